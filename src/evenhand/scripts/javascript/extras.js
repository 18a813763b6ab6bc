// Parts of the web platform that the embedded engine lacks and that checks of model output reach for.
//
// Evaluates to `(world, lacks) => {}`, which adds them to a global object: TextEncoder, TextDecoder (UTF-8),
// structuredClone, URLSearchParams, and URL for hosts in ASCII. What is left out of them is an error through `lacks`.
(world, lacks) => {
  'use strict';
  const add = (name, value) =>
    Object.defineProperty(world, name, { value, writable: true, enumerable: false, configurable: true });

  // --- UTF-8 -----------------------------------------------------------------------------------------------------

  function utf8(text) {
    const source = String(text).toWellFormed();
    const bytes = [];
    for (const character of source) {
      const code = character.codePointAt(0);
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return bytes;
  }

  // The decoder of the encoding standard: every maximal part of a broken sequence becomes one U+FFFD.
  function decodeUtf8(bytes, fatal) {
    let text = '';
    let code = 0;
    let missing = 0;
    let lower = 0x80;
    let upper = 0xbf;
    const broken = () => {
      if (fatal) throw new TypeError('The encoded data was not valid for encoding utf-8');
      text += '\ufffd';
    };
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      if (missing) {
        if (byte < lower || byte > upper) {
          missing = 0;
          lower = 0x80;
          upper = 0xbf;
          broken();
          index--;
          continue;
        }
        lower = 0x80;
        upper = 0xbf;
        code = (code << 6) | (byte & 63);
        if (--missing === 0) text += String.fromCodePoint(code);
      } else if (byte < 0x80) text += String.fromCharCode(byte);
      else if (byte >= 0xc2 && byte <= 0xdf) { missing = 1; code = byte & 31; }
      else if (byte >= 0xe0 && byte <= 0xef) {
        missing = 2;
        code = byte & 15;
        if (byte === 0xe0) lower = 0xa0;
        if (byte === 0xed) upper = 0x9f;
      } else if (byte >= 0xf0 && byte <= 0xf4) {
        missing = 3;
        code = byte & 7;
        if (byte === 0xf0) lower = 0x90;
        if (byte === 0xf4) upper = 0x8f;
      } else broken();
    }
    if (missing) broken();
    return text;
  }

  add('TextEncoder', class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return Uint8Array.from(utf8(text)); }
    encodeInto(source, target) {
      let read = 0;
      let written = 0;
      for (const character of source) {
        const bytes = utf8(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  });

  add('TextDecoder', class TextDecoder {
    #fatal;
    #keepMark;
    constructor(label = 'utf-8', options = {}) {
      const name = String(label).replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '').toLowerCase();
      if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(name)) lacks(`TextDecoder('${name}')`);
      this.#fatal = Boolean(options.fatal);
      this.#keepMark = Boolean(options.ignoreBOM);
    }
    get encoding() { return 'utf-8'; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#keepMark; }
    decode(data = new Uint8Array(0), options = {}) {
      if (options.stream) lacks('TextDecoder streaming');
      if (!ArrayBuffer.isView(data) && !isBuffer(data)) {
        throw new TypeError('The "list" argument must be an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView.');
      }
      const bytes = ArrayBuffer.isView(data)
        ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        : new Uint8Array(data);
      const text = decodeUtf8(bytes, this.#fatal);
      return text.charCodeAt(0) === 0xfeff && !this.#keepMark ? text.slice(1) : text;
    }
  });

  // --- copies ----------------------------------------------------------------------------------------------------

  const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const tagOf = (value) => apply(Object.prototype.toString, value, []).slice(8, -1);
  const getterOf = (owner, key) => getOwnPropertyDescriptor(owner, key).get;
  // Whether an object has what a method looks for inside it, whatever its prototype says.
  const has = (method, ...parameters) => (value) => {
    try {
      apply(method, value, parameters);
      return true;
    } catch {
      return false;
    }
  };
  const isMap = has(getterOf(Map.prototype, 'size'));
  const isSet = has(getterOf(Set.prototype, 'size'));
  const isBuffer = has(getterOf(ArrayBuffer.prototype, 'byteLength'));
  const bufferTypeOf = getterOf(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag);
  const BOXED = { Boolean, Number, String, BigInt };
  const isBoxed = {
    Boolean: has(Boolean.prototype.valueOf), Number: has(Number.prototype.valueOf),
    String: has(String.prototype.valueOf), BigInt: has(BigInt.prototype.valueOf),
  };
  const isDate = has(Date.prototype.getTime);
  const isRegExp = has(getterOf(RegExp.prototype, 'source'));
  const UNCLONEABLE = new Set([
    'Symbol', 'Arguments', 'Promise', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Generator', 'AsyncGenerator',
    'Array Iterator', 'Map Iterator', 'Set Iterator', 'String Iterator', 'RegExp String Iterator', 'Iterator Helper',
  ]);

  function uncloneable(value) {
    const shown = typeof value === 'object' ? `#<${tagOf(value)}>` : String(value);
    throw new DOMException(`${shown} could not be cloned.`, 'DataCloneError');
  }

  // The algorithm of the HTML standard. A proxy, which nothing here can tell, is copied as what it shows.
  function copied(value, known) {
    if (typeof value === 'symbol' || typeof value === 'function') uncloneable(value);
    if (typeof value !== 'object' || value === null) return value;
    if (known.has(value)) return known.get(value);
    const keep = (copy) => { known.set(value, copy); return copy; };
    const tag = tagOf(value);
    // Nearly everything is data; the questions below take longer than the copy.
    const isData = tag === 'Array' || (tag === 'Object' && getPrototypeOf(value) === Object.prototype);
    if (isData) return copiedObject(value, known, keep);
    if (isDate(value)) return keep(new Date(apply(Date.prototype.getTime, value, [])));
    if (isRegExp(value) && tag === 'RegExp') return keep(new RegExp(value.source, value.flags));
    for (const name in BOXED) {
      if (isBoxed[name](value)) return keep(Object(apply(BOXED[name].prototype.valueOf, value, [])));
    }
    if (UNCLONEABLE.has(tag)) uncloneable(value);
    if (isBuffer(value)) return keep(apply(ArrayBuffer.prototype.slice, value, [0]));
    if (ArrayBuffer.isView(value)) {
      const type = apply(bufferTypeOf, value, []);
      const buffer = copied(value.buffer, known);
      if (type === undefined) return keep(new DataView(buffer, value.byteOffset, value.byteLength));
      return keep(new world[type](buffer, value.byteOffset, value.length));
    }
    if (isMap(value)) {
      const copy = keep(new Map());
      const pairs = [];
      apply(Map.prototype.forEach, value, [(item, key) => pairs.push([key, item])]);
      for (const [key, item] of pairs) copy.set(copied(key, known), copied(item, known));
      return copy;
    }
    if (isSet(value)) {
      const copy = keep(new Set());
      const items = [];
      apply(Set.prototype.forEach, value, [(item) => items.push(item)]);
      for (const item of items) copy.add(copied(item, known));
      return copy;
    }
    return tag === 'Error' && !(Symbol.toStringTag in value) ? copiedError(value, known, keep) : copiedObject(value, known, keep);
  }

  const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  function copiedError(value, known, keep) {
    const name = String(value.name);
    const message = getOwnPropertyDescriptor(value, 'message');
    const Type = Object.hasOwn(ERRORS, name) ? ERRORS[name] : Error;
    const copy = keep(message && 'value' in message ? new Type(String(message.value)) : new Type());
    if (Object.hasOwn(value, 'cause')) {
      const cause = copied(value.cause, known);
      Object.defineProperty(copy, 'cause', { value: cause, writable: true, enumerable: false, configurable: true });
    }
    return copy;
  }

  function copiedObject(value, known, keep) {
    const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) {
      Object.defineProperty(copy, key, {
        value: copied(value[key], known), writable: true, enumerable: true, configurable: true,
      });
    }
    return copy;
  }

  add('structuredClone', function structuredClone(value, options) {
    if (!arguments.length) throw new TypeError('The "value" argument must be specified');
    if (options?.transfer?.length) lacks('structuredClone with `transfer`');
    return copied(value, new Map());
  });

  // --- URLs ------------------------------------------------------------------------------------------------------

  const PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
  const escaped = (text, pattern) =>
    text.toWellFormed().replace(pattern, (character) =>
      utf8(character).map((byte) => '%' + byte.toString(16).toUpperCase().padStart(2, '0')).join(''));
  const C0 = '\\x00-\\x1f\\x7f-\\u{10ffff}';
  const IN_FRAGMENT = new RegExp(`[${C0} "<>\`]`, 'gu');
  const IN_QUERY = new RegExp(`[${C0} "#<>]`, 'gu');
  const IN_SPECIAL_QUERY = new RegExp(`[${C0} "#<>']`, 'gu');
  const IN_PATH = new RegExp(`[${C0} "#<>?\`{}]`, 'gu');
  const IN_OPAQUE_PATH = new RegExp(`[${C0}]`, 'gu');
  const IN_USER = new RegExp(`[${C0} "#<>?\`{}/:;=@\\[\\]\\\\^|]`, 'gu');

  function invalid(input) {
    const error = new TypeError('Invalid URL');
    error.code = 'ERR_INVALID_URL';
    error.input = input;
    throw error;
  }

  function ipv4Number(part) {
    if (part === '') return NaN;
    if (/^0x[0-9a-f]*$/i.test(part)) return part.length === 2 ? 0 : parseInt(part, 16);
    if (/^0[0-7]+$/.test(part)) return parseInt(part, 8);
    return /^[0-9]+$/.test(part) && !/^0[89]/.test(part) ? Number(part) : NaN;
  }

  function hostOf(text, input) {
    if (text.startsWith('[')) lacks('URL with an IPv6 host');
    let host;
    try {
      host = decodeURIComponent(text);
    } catch {
      invalid(input);
    }
    if (/[^\x00-\x7f]/.test(host) || /(?:^|\.)xn--/i.test(host)) lacks('URL with a host outside ASCII');
    host = host.toLowerCase();
    if (!host || /[\x00-\x20#%/:<>?@[\\\]^|\x7f]/.test(host)) invalid(input);
    if (/["`{}]/.test(host)) lacks('URL with such a host');
    const parts = host.split('.');
    if (parts.at(-1) === '' && parts.length > 1) parts.pop();
    if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(parts.at(-1))) {
      const numbers = parts.map(ipv4Number);
      const last = numbers.pop();
      if (numbers.length > 3 || numbers.some((n) => !(n <= 255)) || !(last < 256 ** (4 - numbers.length))) invalid(input);
      const value = numbers.reduce((sum, n, index) => sum + n * 256 ** (3 - index), last);
      return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
    }
    return host;
  }

  // Path segments with `.` and `..` resolved.
  function normalPath(path) {
    // Versions of Node.js differ in whether they escape it.
    if (path.includes('^')) lacks('URL with `^` in its path');
    const out = [];
    const parts = path.replaceAll('\\', '/').split('/');
    parts.forEach((part, index) => {
      const isLast = index === parts.length - 1;
      if (/^(?:\.|%2e){2}$/i.test(part)) {
        if (out.length > 1) out.pop();
        if (isLast) out.push('');
      } else if (/^(?:\.|%2e)$/i.test(part)) {
        if (isLast) out.push('');
      } else out.push(escaped(part, IN_PATH));
    });
    return out.join('/');
  }

  function parsed(input, base) {
    const trimmed = String(input).replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(trimmed)?.[0].toLowerCase();
    if (!scheme || (base && base.protocol === scheme && scheme in PORTS && !/^[/\\]{2}/.test(trimmed.slice(scheme.length)))) {
      if (!base) invalid(input);
      return relative(scheme ? trimmed.slice(scheme.length) : trimmed, base, input);
    }
    return absolute(scheme, trimmed.slice(scheme.length), input);
  }

  function cut(text) {
    const hashAt = text.indexOf('#');
    const hash = hashAt < 0 ? null : text.slice(hashAt + 1);
    const rest = hashAt < 0 ? text : text.slice(0, hashAt);
    const queryAt = rest.indexOf('?');
    return { path: queryAt < 0 ? rest : rest.slice(0, queryAt), query: queryAt < 0 ? null : rest.slice(queryAt + 1), hash };
  }

  // With its mark, also where nothing follows it: `href` keeps the mark. Empty text for none.
  const search = (query, protocol) =>
    query === null ? '' : '?' + escaped(query, protocol in PORTS ? IN_SPECIAL_QUERY : IN_QUERY);
  const fragment = (hash) => (hash === null ? '' : '#' + escaped(hash, IN_FRAGMENT));
  const withoutBreaks = (text) => text.replace(/[\t\n\r]/g, '');
  const shown = (part) => (part.length > 1 ? part : '');

  function absolute(protocol, rest, input) {
    const isSpecial = protocol in PORTS;
    if (protocol === 'file:' || protocol === 'blob:') lacks('URL with the scheme ' + protocol);
    const url = { protocol, username: '', password: '', hostname: '', port: '', pathname: '', search: '', hash: '' };
    const { path, query, hash } = cut(rest);
    url.search = search(query, protocol);
    url.hash = fragment(hash);
    if (!isSpecial) {
      // Paths of other schemes have rules of their own, on which hosts of JavaScript do not agree.
      if (path.startsWith('/')) lacks('URL with such a scheme and a path');
      if (/ $/.test(path)) lacks('URL with a space at the end of such a path');
      url.isOpaque = true;
      url.pathname = escaped(path, IN_OPAQUE_PATH);
      return url;
    }
    const slashes = /^[/\\]*/.exec(path)[0];
    const after = path.slice(slashes.length);
    const end = after.search(/[/\\]/);
    let authority = end < 0 ? after : after.slice(0, end);
    const at = authority.lastIndexOf('@');
    if (at >= 0) {
      const [user, ...password] = authority.slice(0, at).split(':');
      url.username = escaped(user, IN_USER);
      url.password = escaped(password.join(':'), IN_USER);
      authority = authority.slice(at + 1);
    }
    const port = /:([0-9]*)$/.exec(authority);
    if (port && !authority.startsWith('[')) {
      authority = authority.slice(0, port.index);
      if (Number(port[1]) > 65535) invalid(input);
      url.port = port[1] === '' || String(Number(port[1])) === PORTS[protocol] ? '' : String(Number(port[1]));
    }
    url.hostname = hostOf(authority, input);
    url.pathname = end < 0 ? '/' : normalPath(after.slice(end));
    return url;
  }

  function relative(text, base, input) {
    if (base.isOpaque) lacks('URL relative to such a base');
    if (/^[/\\]{2}/.test(text)) return absolute(base.protocol, text, input);
    const { path, query, hash } = cut(text);
    const url = { ...base, hash: fragment(hash) };
    if (!path) {
      if (query !== null) url.search = search(query, base.protocol);
      return url;
    }
    const isRooted = path.startsWith('/') || path.startsWith('\\');
    const folder = base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1);
    url.pathname = normalPath(isRooted ? path : folder + path);
    url.search = search(query, base.protocol);
    return url;
  }

  const decodedForm = (text) => decodeUtf8(Uint8Array.from(
    utf8(text.replaceAll('+', ' ')).reduce((bytes, byte, index, all) => {
      if (bytes.skip > 0) bytes.skip--;
      else {
        const pair = byte === 37 ? String.fromCharCode(all[index + 1] ?? 0, all[index + 2] ?? 0) : '';
        if (/^[0-9a-f]{2}$/i.test(pair)) {
          bytes.push(parseInt(pair, 16));
          bytes.skip = 2;
        } else bytes.push(byte);
      }
      return bytes;
    }, Object.assign([], { skip: 0 })),
  ), false);
  const encodedForm = (text) => escaped(text, /[^A-Za-z0-9*\-._ ]/gu).replaceAll(' ', '+');

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};
    constructor(init = '', changed) {
      if (typeof changed === 'function') this.#changed = changed;
      if (typeof init === 'object' && init !== null) {
        const pairs = typeof init[Symbol.iterator] === 'function' ? [...init] : Object.entries(init);
        for (const pair of pairs) {
          const [name, value, ...more] = [...pair];
          if (value === undefined || more.length) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
          this.#pairs.push([String(name).toWellFormed(), String(value).toWellFormed()]);
        }
        return;
      }
      for (const part of String(init).replace(/^\?/, '').split('&')) {
        if (!part) continue;
        const at = part.indexOf('=');
        this.#pairs.push(at < 0 ? [decodedForm(part), ''] : [decodedForm(part.slice(0, at)), decodedForm(part.slice(at + 1))]);
      }
    }
    get size() { return this.#pairs.length; }
    append(name, value) { this.#pairs.push([String(name), String(value)]); this.#changed(this); }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(([key, item]) => key !== String(name) || (value !== undefined && item !== String(value)));
      this.#changed(this);
    }
    get(name) { return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value); }
    has(name, value) {
      return this.#pairs.some(([key, item]) => key === String(name) && (value === undefined || item === String(value)));
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([key]) => key === String(name));
      if (at < 0) this.#pairs.push([String(name), String(value)]);
      else {
        this.#pairs[at] = [String(name), String(value)];
        this.#pairs = this.#pairs.filter(([key], index) => index <= at || key !== String(name));
      }
      this.#changed(this);
    }
    sort() { this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#changed(this); }
    forEach(action, self) { for (const [name, value] of this.#pairs) action.call(self, value, name, this); }
    *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
    *keys() { for (const [name] of this.#pairs) yield name; }
    *values() { for (const [, value] of this.#pairs) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#pairs.map(([name, value]) => `${encodedForm(name)}=${encodedForm(value)}`).join('&'); }
  }
  add('URLSearchParams', URLSearchParams);

  class URL {
    #url;
    #parameters;
    constructor(input, base) { this.#url = parsed(input, base === undefined ? undefined : parsed(base)); }
    static canParse(input, base) { return URL.parse(input, base) !== null; }
    static parse(input, base) {
      try {
        return new URL(input, base);
      } catch (error) {
        if (error.code === 'ERR_INVALID_URL') return null;
        throw error;
      }
    }
    get protocol() { return this.#url.protocol; }
    get username() { return this.#url.username; }
    get password() { return this.#url.password; }
    get hostname() { return this.#url.hostname; }
    get port() { return this.#url.port; }
    get host() { return this.hostname + (this.port && ':' + this.port); }
    get origin() { return this.protocol in PORTS ? `${this.protocol}//${this.host}` : 'null'; }
    get pathname() { return this.#url.pathname; }
    get search() { return shown(this.#url.search); }
    set search(text) {
      const query = String(text);
      this.#url.search = search(query ? withoutBreaks(query.replace(/^\?/, '')) : null, this.protocol);
      this.#parameters = undefined;
    }
    get hash() { return shown(this.#url.hash); }
    set hash(text) {
      const hash = String(text);
      this.#url.hash = fragment(hash ? withoutBreaks(hash.replace(/^#/, '')) : null);
    }
    get searchParams() {
      this.#parameters ??= new URLSearchParams(this.search, (changed) => {
        const text = changed.toString();
        this.#url.search = text && '?' + text;
      });
      return this.#parameters;
    }
    get href() {
      const { protocol, username, password, pathname, search: query, hash } = this.#url;
      const user = username || password ? username + (password && ':' + password) + '@' : '';
      const authority = protocol in PORTS || this.hostname ? '//' + user + this.host : '';
      return protocol + authority + pathname + query + hash;
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }
  for (const name of ['protocol', 'username', 'password', 'hostname', 'port', 'host', 'pathname', 'href']) {
    const { get } = Object.getOwnPropertyDescriptor(URL.prototype, name);
    Object.defineProperty(URL.prototype, name, {
      get, set() { lacks(`setting URL.${name}`); }, enumerable: true, configurable: true,
    });
  }
  add('URL', URL);
}
