// Freezes every built-in object of a realm, so that it can serve many scripts of which none can change what another
// one sees.
//
// Evaluates to `(world, lacks) => {}`; `lacks(name)` throws, and says what the engine lacks. It is evaluated before any script, and apart from `realm.js`: a realm for one script
// does without it, and compiling it would be a good part of what such a realm costs.
(() => {
  'use strict';
  const { ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, deleteProperty, apply } = Reflect;
  const { freeze } = Object;
  const SetClass = Set;
  const { has: setHas, add: setAdd } = Set.prototype;
  const ErrorClass = Error;
  const TypeErrorClass = TypeError;

  // Objects to which code assigns properties of its own under inherited names: an error its `name`, a plain object
  // used as a table of words the key `constructor`. Frozen data properties would refuse that; accessors let it happen
  // on the object itself.
  const ASSIGNED_OVER = [
    Object.prototype, Function.prototype, Array.prototype, Error.prototype, TypeError.prototype, RangeError.prototype,
    SyntaxError.prototype, ReferenceError.prototype, EvalError.prototype, URIError.prototype, Promise.prototype,
    Map.prototype, Set.prototype, Date.prototype, RegExp.prototype,
  ];
  const ASSIGNED_NAMES = new SetClass(['constructor', 'name', 'message', 'toString', 'valueOf', 'toJSON']);

  function letAssignOver(owner, key) {
    const found = getOwnPropertyDescriptor(owner, key);
    if (!found || !('value' in found) || !found.configurable) return;
    const { value } = found;
    defineProperty(owner, key, {
      get() { return value; },
      set(assigned) {
        if (this === owner) throw new TypeErrorClass('built-in objects cannot be changed here');
        const own = this !== null && typeof this === 'object' || typeof this === 'function'
          ? getOwnPropertyDescriptor(this, key) : undefined;
        if (own) this[key] = assigned;
        else defineProperty(this, key, { value: assigned, writable: true, enumerable: true, configurable: true });
      },
      enumerable: found.enumerable,
      configurable: false,
    });
  }

  return (world, lacks) => {
    // What runs text as code could declare names that no look at the global object finds, and references to objects
    // outlive an evaluation. Code that mentions them has a realm of its own.
    for (const name of ['eval', 'Function', 'WeakRef', 'FinalizationRegistry']) deleteProperty(world, name);
    for (const made of [function () {}, function* () {}, async function () {}, async function* () {}]) {
      const kind = getPrototypeOf(made);
      const { name } = kind.constructor;
      const refuse = { [name]() { return lacks(name); } }[name];
      defineProperty(kind, 'constructor', { value: refuse, writable: true, enumerable: false, configurable: true });
    }
    for (const key of ['stackTraceLimit', 'prepareStackTrace']) {
      deleteProperty(ErrorClass, key);
      defineProperty(ErrorClass, key, { value: undefined, writable: false, configurable: false });
    }
    for (const owner of ASSIGNED_OVER) {
      for (const key of ownKeys(owner)) {
        const isEvery = owner === Object.prototype && key !== '__proto__';
        if (typeof key === 'string' && (isEvery || apply(setHas, ASSIGNED_NAMES, [key]))) letAssignOver(owner, key);
      }
    }
    const hidden = [
      function* () {}, async function* () {}, async function () {}, function () {}, () => {}, async () => {},
      [][Symbol.iterator](), ''[Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](),
      'x'.matchAll(/x/g), (function* () {})(), (async function* () {})(), [].values().map((item) => item),
      Iterator.from({ next() {} }), (function () { return arguments; })(),
    ];
    const seen = new SetClass();
    const waiting = [];
    for (const object of hidden) waiting[waiting.length] = getPrototypeOf(object);
    for (const key of ownKeys(world)) {
      const found = getOwnPropertyDescriptor(world, key);
      if ('value' in found) waiting[waiting.length] = found.value;
    }
    while (waiting.length) {
      const object = waiting[waiting.length - 1];
      waiting.length -= 1;
      const isObject = (typeof object === 'object' && object !== null) || typeof object === 'function';
      if (!isObject || object === world || apply(setHas, seen, [object])) continue;
      apply(setAdd, seen, [object]);
      freeze(object);
      waiting[waiting.length] = getPrototypeOf(object);
      for (const key of ownKeys(object)) {
        const found = getOwnPropertyDescriptor(object, key);
        if ('value' in found) waiting[waiting.length] = found.value;
        else {
          waiting[waiting.length] = found.get;
          waiting[waiting.length] = found.set;
        }
      }
    }
    for (const key of ownKeys(world)) {
      const found = getOwnPropertyDescriptor(world, key);
      if (!found.configurable) continue;
      if ('value' in found) defineProperty(world, key, { writable: false, configurable: false });
      else {
        freeze(found.get);
        freeze(found.set);
        defineProperty(world, key, { set: undefined, configurable: false });
      }
    }
  };
})()
