// What a piece of inline code means: which function body it stands for.
//
// Evaluates to `(code, compiles, purpose) => body`. `compiles(body)` tells whether a text is a whole function body for the
// engine, so that nothing here has to know the grammar of the language. The body may not compile: then no reading of
// the code does, and it is the one to report.
//
// Code with a line end in it is a function body as it stands. A single line is an expression if it can be one; a line
// that begins with a declaration, comments before it aside, is declarations and a final expression; any other line is a
// function body. Code that is asked for a `value` is an expression on a single line, or says `return` itself.
(() => {
  'use strict';
  // One comment can be read in one way only, so that a row of them is not tried in every grouping.
  const DECLARATION = /^(?:\s|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*(?:const|let|var)(?=[\s{[])/;
  const TRIVIA = /^(?:[\s;]|\/\/.*$|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*$/;
  // Places at which a line may be split that are tried: a line of ten thousand semicolons is not read for ever.
  const MAX_SPLITS = 200;

  // The parentheses let no line end after `return` cut the expression off, and compile only if none is spliced in.
  const returning = (expression) => 'return (' + expression + '\n)';

  function* semicolonsFromTheRight(code) {
    let at = code.length;
    for (let tried = 0; tried < MAX_SPLITS; tried++) {
      at = code.lastIndexOf(';', at - 1);
      if (at < 0) return;
      yield at;
      if (at === 0) return;
    }
  }

  // The body that returns the code as an expression, without the semicolons and comments after it; null if it is none.
  function asExpression(code, compiles) {
    const isOne = (text) => compiles('return ' + text) && compiles(returning(text));
    if (TRIVIA.test(code)) return null;
    if (isOne(code)) return returning(code);
    for (const at of semicolonsFromTheRight(code)) {
      // A semicolon inside the last comment does not end the search.
      if (!TRIVIA.test(code.slice(at + 1))) continue;
      const head = code.slice(0, at);
      if (!TRIVIA.test(head) && isOne(head)) return returning(head);
    }
    return null;
  }

  function asDeclarations(code, compiles) {
    for (const at of semicolonsFromTheRight(code)) {
      const left = code.slice(0, at + 1);
      const rest = code.slice(at + 1);
      if (TRIVIA.test(rest) || !compiles(left)) continue;
      const last = asExpression(rest, compiles);
      if (last !== null && compiles(left + ' ' + last)) return left + ' ' + last;
    }
    return null;
  }

  // A body that does not compile, for a line that is none as an expression: as it stands, or with one spliced out of it.
  function notAnExpression(line, compiles) {
    const body = returning(line);
    return compiles(body) ? 'return ' + line : body;
  }

  return (code, compiles, purpose) => {
    const body = code.trimEnd();
    if (body.includes('\n')) return body;
    const line = body.trimStart();
    const read = asExpression(line, compiles);
    if (read !== null) return read;
    if (purpose === 'value') return /\breturn\b/.test(line) ? body : notAnExpression(line, compiles);
    return (DECLARATION.test(line) && asDeclarations(line, compiles)) || body;
  };
})()
