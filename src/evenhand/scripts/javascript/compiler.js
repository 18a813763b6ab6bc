// Finds the function body that a piece of inline code stands for, in an engine whose `Function` can be tricked.
//
// Evaluates to `(bodyOf) => (code, purpose) => answer`, where `bodyOf` is what `source.js` evaluates to. The answer is JSON:
// `{body, fresh, extras, lacks}`, or `{error, line, column}` where the code does not compile.
(bodyOf) => {
  'use strict';
  const evaluate = eval;
  const { stringify } = JSON;
  const SyntaxErrorClass = SyntaxError;

  // Code that may behave otherwise where built-in objects are frozen, or that is best kept away from a shared realm.
  // Names after a dot or before a colon are those of data: `call.arguments`, `{arguments: …}`.
  const NEEDS_OWN_REALM = new RegExp(
    '\\b(?:prototype|__proto__|__(?:define|lookup)[GS]etter__|eval|Function|defineProperty|defineProperties' +
      '|setPrototypeOf|globalThis|WeakRef|FinalizationRegistry|stackTraceLimit|prepareStackTrace|captureStackTrace' +
      '|isFrozen|isSealed|isExtensible|getOwnPropertyDescriptors?|getOwnPropertyNames|Atomics)\\b' +
      '|\\bglobal\\s*[.[]|\\bwith\\s*\\(|(?<![.\\w$])arguments\\b(?!\\s*:)|\\b(?:callee|caller)\\b|\\\\u',
  );

  const NAMES_EXTRAS = /\b(?:TextEncoder|TextDecoder|structuredClone|URL|URLSearchParams|eval|Function|globalThis|global)\b|\\u/;
  // A global object reached by `this` can be asked for any name.
  const mentionsExtras = (code) => NAMES_EXTRAS.test(code) || (/\bthis\b/.test(code) && code.includes('['));

  // Nothing of a checked text ever runs: the first statement throws.
  function syntaxError(source) {
    try {
      evaluate('throw 0;' + source);
    } catch (error) {
      return error instanceof SyntaxErrorClass ? error : null;
    }
    return null;
  }

  // After its closing brace an arrow function in parentheses can only be followed by `)` or `,`, and a method in an
  // object by `}` or `,` and another property. No text continues both, so a body that compiles in both is whole.
  const asArrow = (body) => '(function () { ((output, context) => {\n' + body + '\n}) })';
  const asMethod = (body) => '({ check(output, context) {\n' + body + '\n} })';

  function compiles(body) {
    return !syntaxError(asArrow(body)) && !syntaxError(asMethod(body));
  }

  // `import(` in a text or a comment still compiles when it is broken; as code it does not.
  function importsModules(body) {
    return /\bimport\s*\(/.test(body) && !compiles(body.replace(/\bimport(?=\s*\()/g, 'import!'));
  }

  return (code, purpose) => {
    const body = bodyOf(code, compiles, purpose);
    const error = syntaxError(asArrow(body)) ?? syntaxError(asMethod(body));
    if (error === null) {
      const lacks = importsModules(body) ? 'import()' : '';
      return stringify({ body, fresh: NEEDS_OWN_REALM.test(code), extras: mentionsExtras(code), lacks });
    }
    const place = /:(\d+):(\d+)/.exec(error.stack ?? '');
    const indent = body.includes('\n') ? 0 : code.length - code.trimStart().length;
    const line = place ? Math.max(1, place[1] - 1) : 0;
    return stringify({ error: error.message, line, column: place ? +place[2] + (line === 1 ? indent : 0) : 0 });
  };
}
