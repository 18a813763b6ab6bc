// The world in which inline code runs in the embedded engine: what the engine has, a few things that it lacks and that
// are cheap to add, and, for everything else that code written for Node.js may reach for, an error that says so.
//
// Evaluates to `(values, harden, extras) => name => function`: the functions by which the worker runs scripts. `harden`
// is what `harden.js` evaluates to, for a realm that serves many scripts, or null for one that serves a single one.
// `extras` is what `extras.js` evaluates to, or null for code that mentions nothing of it.
(values, harden, extras) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, deleteProperty } = Reflect;
  const { freeze } = Object;
  const PromiseClass = Promise;
  const { then } = Promise.prototype;
  const { join } = Array.prototype;
  const BigIntFunction = BigInt;
  const SetClass = Set;
  const MapClass = Map;
  const { has: setHas, add: setAdd } = Set.prototype;
  const { get: mapGet, set: mapSet } = Map.prototype;
  const evaluate = eval;
  const world = globalThis;
  const ErrorClass = Error;
  const TypeErrorClass = TypeError;
  const DateClass = Date;
  const now = Date.now;
  const text = String;

  // --- what the engine lacks -----------------------------------------------------------------------------------

  let lacking = '';

  function lacks(name) {
    if (!lacking) lacking = name;
    throw new ErrorClass('the embedded engine has no `' + name + '`');
  }

  const LACKING_GLOBALS = [
    'require', 'process', 'Buffer', 'fetch', 'Intl', 'WebSocket', 'WebAssembly', 'crypto', 'Crypto', 'CryptoKey',
    'SubtleCrypto', 'AbortController', 'AbortSignal', 'Blob', 'File', 'FormData', 'Headers', 'Request', 'Response',
    'Event', 'EventTarget', 'EventSource', 'MessageChannel', 'MessageEvent', 'MessagePort', 'BroadcastChannel',
    'ReadableStream', 'WritableStream', 'TransformStream', 'CompressionStream', 'DecompressionStream',
    'TextEncoderStream', 'TextDecoderStream', 'navigator', 'Navigator', 'setImmediate', 'clearImmediate',
    'CustomEvent', 'CloseEvent', 'URLPattern', 'Performance', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure',
    'PerformanceObserver', 'PerformanceObserverEntryList', 'PerformanceResourceTiming', 'ByteLengthQueuingStrategy',
    'CountQueuingStrategy', 'ReadableByteStreamController', 'ReadableStreamBYOBReader', 'ReadableStreamBYOBRequest',
    'ReadableStreamDefaultController', 'ReadableStreamDefaultReader', 'TransformStreamDefaultController',
    'WritableStreamDefaultController', 'WritableStreamDefaultWriter',
  ];
  const LACKING_METHODS = [
    [String.prototype, 'String', ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase']],
    [Number.prototype, 'Number', ['toLocaleString']],
    [BigInt.prototype, 'BigInt', ['toLocaleString']],
    [Array.prototype, 'Array', ['toLocaleString']],
    [getPrototypeOf(Int8Array.prototype), 'TypedArray', ['toLocaleString']],
    [Date.prototype, 'Date', ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']],
    [performance, 'performance', ['mark', 'measure', 'getEntries', 'getEntriesByName', 'getEntriesByType', 'timerify']],
  ];
  for (const name of LACKING_GLOBALS) {
    defineProperty(world, name, {
      get: () => lacks(name),
      // Code may have a global of its own under that name.
      set(value) {
        defineProperty(world, name, { value, writable: true, enumerable: true, configurable: true });
      },
      enumerable: false,
      configurable: true,
    });
  }
  for (const [owner, type, names] of LACKING_METHODS) {
    for (const name of names) {
      const path = (type === 'performance' ? '' : 'prototype.') + name;
      const method = { [name]() { return lacks(type + '.' + path); } }[name];
      defineProperty(owner, name, { value: method, writable: true, enumerable: false, configurable: true });
    }
  }

  // --- what is cheap to add ------------------------------------------------------------------------------------

  function addGlobal(name, value) {
    defineProperty(world, name, { value, writable: true, enumerable: false, configurable: true });
  }

  let lines = [];
  let lineRoom = 65536;

  function log(...parts) {
    if (lineRoom <= 0) return;
    const line = values.logged(parts);
    lineRoom -= line.length + 1;
    lines[lines.length] = lineRoom > 0 ? line : '(more output was left out)';
  }

  const consoleObject = { log, info: log, debug: log, warn: log, error: log, trace: log, dir: (value) => log(value) };
  consoleObject.table = (value) => log(value);
  consoleObject.group = (...parts) => log(...parts);
  consoleObject.assert = (holds, ...parts) => { if (!holds) log('Assertion failed:', ...parts); };
  for (const name of ['groupEnd', 'groupCollapsed', 'time', 'timeEnd', 'timeLog', 'count', 'countReset', 'clear']) {
    consoleObject[name] = { [name]() {} }[name];
  }
  addGlobal('console', consoleObject);
  addGlobal('global', world);

  let timers = [];
  let nextTimer = 1;

  function addTimer(action, delay, parameters, repeat) {
    if (typeof action !== 'function') throw new TypeErrorClass('the callback of a timer must be a function');
    const wait = +delay >= 1 && +delay <= 2147483647 ? +delay : 1;
    const timer = { id: nextTimer++, at: now() + wait, action, parameters, repeat: repeat ? wait : 0 };
    timers[timers.length] = timer;
    return timer.id;
  }

  function dropTimer(id) {
    const kept = [];
    for (let index = 0; index < timers.length; index++) {
      if (timers[index].id !== id) kept[kept.length] = timers[index];
    }
    timers = kept;
  }

  addGlobal('setTimeout', function setTimeout(action, delay, ...rest) { return addTimer(action, delay, rest, false); });
  addGlobal('setInterval', function setInterval(action, delay, ...rest) { return addTimer(action, delay, rest, true); });
  addGlobal('clearTimeout', function clearTimeout(id) { dropTimer(id); });
  addGlobal('clearInterval', function clearInterval(id) { dropTimer(id); });

  // The engine lets go of a target at once; elsewhere it stays, for as long as scripts run.
  function keepTargets() {
    const Checked = WeakRef;
    addGlobal('WeakRef', class WeakRef {
      #target;
      constructor(target) {
        new Checked(target);
        this.#target = target;
      }
      deref() { return this.#target; }
      get [Symbol.toStringTag]() { return 'WeakRef'; }
    });
  }

  if (extras) extras(world, lacks);

  if (harden) harden(world, lacks);
  else keepTargets();
  const worldParent = getPrototypeOf(world);
  const worldSize = ownKeys(world).length;
  const known = new SetClass(ownKeys(world));

  // Whether nothing of a script is left in the realm; removes what can be removed.
  function isClean() {
    timers = [];
    lacking = '';
    if (getPrototypeOf(world) !== worldParent) return false;
    const keys = ownKeys(world);
    if (keys.length === worldSize) return true;
    for (let index = 0; index < keys.length; index++) {
      if (!apply(setHas, known, [keys[index]]) && !deleteProperty(world, keys[index])) return false;
    }
    return ownKeys(world).length === worldSize;
  }

  // --- running -------------------------------------------------------------------------------------------------

  const functions = new MapClass();
  let outcome = '';

  // Make a function of a body that is known to be one.
  function define(key, body) {
    apply(mapSet, functions, [key, evaluate('(function (output, context) {\n' + body + '\n})')]);
    if (harden) {
      const made = apply(mapGet, functions, [key]);
      freeze(made.prototype);
      freeze(made);
    }
  }

  function forget() {
    apply(MapClass.prototype.clear, functions, []);
  }

  // A value from its JSON text. `specials` lists what JSON cannot hold, each as [path, type, text].
  function read(source, specials) {
    if (!specials) return parse(source);
    const root = { value: parse(source) };
    const list = parse(specials);
    for (let index = 0; index < list.length; index++) {
      const [path, type, shown] = list[index];
      let owner = root;
      let key = 'value';
      for (let step = 0; step < path.length; step++) {
        owner = owner[key];
        key = path[step];
      }
      owner[key] = type === 'bigint' ? BigIntFunction(shown) : +shown;
    }
    return root.value;
  }

  function contextOf(source, specials, config, configSpecials, purpose) {
    const context = read(source, specials);
    if (purpose === 'value') return context;
    const { provider } = context;
    if (!('prompt' in context)) context.prompt = undefined;
    if (!('logProbs' in context)) context.logProbs = undefined;
    if (provider) {
      const { id } = provider;
      provider.id = () => id;
      provider.callApi = () => { throw new ErrorClass('`context.provider.callApi` is not available in assertions'); };
    }
    if (config) context.config = read(config, configSpecials);
    return context;
  }

  // The engine keeps long texts that were added up in parts, which cannot leave it; joining makes one piece of them.
  function answer(letter, text) {
    return apply(join, [letter, text], ['']);
  }

  function settled(value, purpose) {
    if (lacking) return 'L' + lacking;
    try {
      return purpose === 'value' ? answer('V', stringify(values.json(value))) : answer('R', values.returned(value));
    } catch (error) {
      return failed(error);
    }
  }

  function failed(error) {
    if (lacking) return 'L' + lacking;
    if (values.TooLarge.is(error)) return 'B';
    if (values.Unfit.is(error)) return answer('U', stringify(error.message));
    return answer('T', values.thrown(error));
  }

  // Run a script. The answer is a letter (R returned, V a value, U no value, T threw, L lacks, B too large, P not
  // settled yet) and its text.
  function run(key, output, outputIsText, outputSpecials, context, contextSpecials, config, configSpecials, purpose) {
    let value;
    lacking = '';
    outcome = '';
    try {
      const given = outputIsText ? output : read(output, outputSpecials);
      const about = context ? contextOf(context, contextSpecials, config, configSpecials, purpose) : undefined;
      value = apply(mapGet, functions, [key])(given, about);
      if (typeof value !== 'object' || value === null || typeof value.then !== 'function') return settled(value, purpose);
    } catch (error) {
      return failed(error);
    }
    const promise = new PromiseClass((resolve) => resolve(value));
    apply(then, promise, [
      (result) => { outcome = settled(result, purpose); },
      (error) => { outcome = failed(error); },
    ]);
    return 'P';
  }

  // The answer of a script that was not settled, or empty text.
  function poll() {
    return outcome || (lacking ? 'L' + lacking : '');
  }

  // Milliseconds until the next timer is due; -1 without one.
  function untilTimer() {
    if (!timers.length) return -1;
    let first = timers[0];
    for (let index = 1; index < timers.length; index++) {
      if (timers[index].at < first.at) first = timers[index];
    }
    const wait = first.at - now();
    return wait > 0 ? wait : 0;
  }

  function fireTimer() {
    let first = timers[0];
    for (let index = 1; index < timers.length; index++) {
      if (timers[index].at < first.at) first = timers[index];
    }
    if (first.repeat) first.at = now() + first.repeat;
    else dropTimer(first.id);
    try {
      apply(first.action, undefined, first.parameters);
    } catch (error) {
      log('uncaught in a timer:', error);
    }
  }

  function hasLines() {
    return lines.length > 0;
  }

  function takeLines() {
    const taken = stringify(lines);
    lines = [];
    lineRoom = 65536;
    return taken;
  }

  const doors = { run, poll, define, forget, isClean, untilTimer, fireTimer, hasLines, takeLines };
  return (name) => doors[name];
}
