// How a value that a script returned, threw or logged becomes text that says what it was.
//
// Evaluates to an object of functions. Everything they use is taken from the realm before any script runs, so that
// a script that changes built-in objects cannot change what it is said to have returned. The text is JSON: booleans,
// null, finite numbers and strings stand for themselves; anything else is an object whose key `$` names its type.
(() => {
  'use strict';
  const { stringify } = JSON;
  const { isArray } = Array;
  const { isFinite } = Number;
  const { keys } = Object;
  const text = String;
  const { apply } = Reflect;
  const { hasOwnProperty, toString: tagOf } = Object.prototype;
  const ErrorClass = Error;

  const MAX_LENGTH = 16 * 1024 * 1024;
  const MAX_DEPTH = 64;
  const MAX_ITEMS = 10000;
  const FIELDS = ['pass', 'score', 'reason', 'namedScores', 'namedScoreWeights', 'componentResults', 'metadata'];

  // Scripts throw anything, proxies too: `#own in` asks no trap, as `instanceof` would.
  class TooLarge extends ErrorClass {
    #own;
    static is(error) { return typeof error === 'object' && error !== null && #own in error; }
  }
  // A value that JSON has no way to write; the message says what it is.
  class Unfit extends ErrorClass {
    #own;
    static is(error) { return typeof error === 'object' && error !== null && #own in error; }
  }

  // What is left of the room for one value.
  let room = 0;

  function within(piece) {
    room -= piece.length;
    if (room < 0) throw new TooLarge('too large');
    return piece;
  }

  function has(object, key) {
    return apply(hasOwnProperty, object, [key]);
  }

  function named(type, shown) {
    return within('{"$":"' + type + '"' + (shown === undefined ? '' : ',"text":' + stringify(shown)) + '}');
  }

  // `role` says what is expected in this place: a `result`, a list of `components`, or a `plain` value.
  function encoded(value, role, parents, depth) {
    switch (typeof value) {
      case 'boolean':
        return value ? 'true' : 'false';
      case 'number':
        return isFinite(value) ? within(text(value)) : named('number', text(value));
      case 'string':
        if (value.length > room) throw new TooLarge('too large');
        return within(stringify(value));
      case 'undefined':
        return named('undefined');
      case 'bigint':
        return named('bigint', text(value));
      case 'symbol':
      case 'function':
        return named(typeof value);
      default:
        return value === null ? 'null' : object(value, role, parents, depth);
    }
  }

  function object(value, role, parents, depth) {
    for (let above = parents; above !== null; above = above.next) {
      if (above.value === value) return named('cycle');
    }
    if (depth >= MAX_DEPTH) return named('deep');
    const below = { value, next: parents };
    const isResult = role === 'result' && !(isArray(value) && !has(value, 'pass'));
    if (isResult) return result(value, below, depth);
    return isArray(value) ? list(value, role, below, depth) : mapping(value, below, depth);
  }

  function list(value, role, parents, depth) {
    const count = value.length;
    if (count > MAX_ITEMS) return named('long', text(count));
    const itemRole = role === 'components' ? 'result' : 'plain';
    let items = '';
    for (let index = 0; index < count; index++) {
      const item = has(value, index) ? encoded(value[index], itemRole, parents, depth + 1) : named('hole');
      items += (index ? ',' : '') + item;
    }
    within('12345678901234567890');
    return '{"$":"array","items":[' + items + ']}';
  }

  // Each field is read once: a getter that answers differently the second time changes nothing.
  function result(value, parents, depth) {
    let found = '';
    for (let index = 0; index < FIELDS.length; index++) {
      const key = FIELDS[index];
      const item = value[key];
      if (item === undefined) continue;
      const role = key === 'componentResults' ? 'components' : 'plain';
      found += (found ? ',"' : '"') + key + '":' + encoded(item, role, parents, depth + 1);
    }
    return asObject(value, found);
  }

  function mapping(value, parents, depth) {
    const names = keys(value);
    if (names.length > MAX_ITEMS) return named('long', text(names.length));
    let found = '';
    for (let index = 0; index < names.length; index++) {
      const key = names[index];
      found += (index ? ',' : '') + within(stringify(key)) + ':' + encoded(value[key], 'plain', parents, depth + 1);
    }
    return asObject(value, found);
  }

  function asObject(value, found) {
    return '{"$":"object","class":' + within(stringify(className(value))) + ',"fields":{' + found + '}}';
  }

  function className(value) {
    try {
      const name = value.constructor?.name;
      return typeof name === 'string' ? name.slice(0, 80) : 'Object';
    } catch {
      return 'Object';
    }
  }

  // The JSON text of a returned value. Throws what reading it throws, and `TooLarge`.
  function returned(value) {
    if (value === true) return 'true';
    if (value === false) return 'false';
    room = MAX_LENGTH;
    return encoded(value, 'result', null, 0);
  }

  // Objects that JSON would write as `{}`.
  const BOXED = /^\[object (?:String|Number|Boolean|BigInt)\]$/;
  const MAX_JSON_DEPTH = 200;
  const LOST = /^\[object (?:Map|Set|WeakMap|WeakSet|Promise|RegExp|Error|ArrayBuffer|Generator|AsyncGenerator)\]$/;

  // The JSON text of a value as `JSON.stringify` writes it, with BigInts as whole numbers; undefined for what it
  // leaves out. What it would change or lose is refused.
  function jsonOf(value, key, parents, depth) {
    switch (typeof value) {
      case 'boolean':
        return value ? 'true' : 'false';
      case 'number':
        if (!isFinite(value)) throw new Unfit(text(value) + ', which JSON does not have');
        return within(text(value));
      case 'string':
        if (value.length > room) throw new TooLarge('too large');
        return within(stringify(value));
      case 'bigint':
        return within(text(value));
      case 'object':
        return value === null ? 'null' : jsonOfObject(value, key, parents, depth);
      default:
        return undefined;
    }
  }

  function jsonOfObject(value, key, parents, depth) {
    for (let above = parents; above !== null; above = above.next) {
      if (above.value === value) throw new Unfit('a value that contains itself');
    }
    if (depth >= MAX_JSON_DEPTH) throw new Unfit('a value that is nested deeper than ' + MAX_JSON_DEPTH + ' levels');
    const below = { value, next: parents };
    const { toJSON } = value;
    if (typeof toJSON === 'function') return jsonOf(apply(toJSON, value, [key]), key, below, depth + 1);
    const tag = apply(tagOf, value, []);
    if (LOST.test(tag)) throw new Unfit('a value of type ' + className(value) + ', which JSON does not have');
    if (BOXED.test(tag)) return jsonOf(value.valueOf(), key, below, depth + 1);
    return isArray(value) ? jsonOfList(value, below, depth) : jsonOfMapping(value, below, depth);
  }

  function jsonOfList(value, parents, depth) {
    let items = '';
    for (let index = 0; index < value.length; index++) {
      const item = jsonOf(value[index], text(index), parents, depth + 1);
      items += (index ? ',' : '') + (item === undefined ? within('null') : item);
    }
    return within('[]') && '[' + items + ']';
  }

  function jsonOfMapping(value, parents, depth) {
    const names = keys(value);
    let found = '';
    for (let index = 0; index < names.length; index++) {
      const item = jsonOf(value[names[index]], names[index], parents, depth + 1);
      if (item !== undefined) found += (found ? ',' : '') + within(stringify(names[index])) + ':' + item;
    }
    return within('{}') && '{' + found + '}';
  }

  // The JSON text of a value that a script gave. Throws what reading it throws, `Unfit` and `TooLarge`.
  function json(value) {
    room = MAX_LENGTH;
    const written = jsonOf(value, '', null, 0);
    if (written === undefined) throw new Unfit(typeof value === 'undefined' ? 'undefined' : 'a ' + typeof value);
    return written;
  }

  function shown(read) {
    try {
      return read();
    } catch {
      return undefined;
    }
  }

  // The JSON text of a thrown value: its name, message and stack as far as they can be read.
  function thrown(error) {
    const isObject = (typeof error === 'object' && error !== null) || typeof error === 'function';
    const message = shown(() => {
      if (!isObject) return text(error);
      const own = error.message;
      if (own !== undefined) return text(own);
      return className(error) === 'Object' ? stringify(error) : text(error);
    });
    const name = isObject ? shown(() => text(error.name ?? '')) : '';
    const stack = isObject ? shown(() => text(error.stack ?? '')) : '';
    return stringify({
      name: (name ?? '').slice(0, 200),
      message: (message ?? 'a value that cannot be shown').slice(0, 20000),
      stack: (stack ?? '').slice(0, 4000),
    });
  }

  // One line of console output.
  function logged(values) {
    let line = '';
    for (let index = 0; index < values.length && line.length < 10000; index++) {
      const value = values[index];
      const piece = shown(() => {
        if (typeof value === 'string') return value;
        if (value instanceof ErrorClass) return text(value.stack || value);
        if (typeof value !== 'object' || value === null) return text(value);
        return stringify(value) ?? text(value);
      });
      line += (index ? ' ' : '') + (piece ?? '[a value that cannot be shown]').slice(0, 10000);
    }
    return line;
  }

  return { returned, json, thrown, logged, TooLarge, Unfit };
})()
