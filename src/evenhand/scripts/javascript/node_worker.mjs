// The process in which scripts in files, and inline code with `engine: node`, run: a Node.js that stays.
//
// Run as `node node_worker.mjs <file number of the channel>`. Frames are four bytes of length and JSON, both ways.
// Each answer is sent before the next script starts, so that the parent knows which one hangs.
import fs from 'node:fs';
import Module, { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import traces from 'node:trace_events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { runInThisContext } from 'node:vm';

const { parse, stringify } = JSON;
const { is } = Object;
const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const folder = path.dirname(fileURLToPath(import.meta.url));
const load = (name) => runInThisContext(fs.readFileSync(path.join(folder, name), 'utf8'));
const values = load('values.js');
const bodyOf = load('source.js');
const FunctionClass = Function;
const SyntaxErrorClass = SyntaxError;
const RangeErrorClass = RangeError;
const bufferFrom = Buffer.from.bind(Buffer);

const channel = new net.Socket({ fd: Number(process.argv[2]), readable: true, writable: true });

// --- in a sandbox: what the permissions of Node.js leave open -------------------------------------------------------

// Signals reach other processes, where one of them opens a debugger. Heap snapshots, reports of fatal errors, logs of
// the engine, traces and sockets with a path are files. A handle of a file that may be read changes its mode, owner and
// times in some versions. Certificates of the system come from wherever a variable of the process says.
async function uncovered() {
  const file = await fs.promises.open(fileURLToPath(import.meta.url));
  await file.close();
  return [
    [process, ['kill', '_kill', '_debugProcess', '_debugEnd']],
    [os, ['setPriority']],
    [v8, ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit']],
    [traces, ['createTracing']],
    [tls, ['getCACertificates']],
    [fs, ['fchmod', 'fchmodSync', 'fchown', 'fchownSync', 'futimes', 'futimesSync']],
    [getPrototypeOf(file), ['chmod', 'chown', 'utimes']],
    // The class of all sockets with a path; no module hands it out.
    [getPrototypeOf(channel._handle), ['bind', 'fchmod']],
  ];
}

if (process.permission) {
  for (const [owner, names] of await uncovered()) {
    for (const name of names) {
      owner[name] = () => {
        throw Object.assign(new Error(`a sandbox does not allow ${name}`), { code: 'ERR_ACCESS_DENIED' });
      };
    }
  }
  Object.defineProperty(process, 'report', { value: undefined });
  syncBuiltinESMExports();
}

// --- console and stray errors ------------------------------------------------------------------------------------

let lines = [];
let lineRoom = 65536;
function log(...parts) {
  if (lineRoom <= 0) return;
  const line = values.logged(parts);
  lineRoom -= line.length + 1;
  lines.push(lineRoom > 0 ? line : '(more output was left out)');
}
for (const name of ['log', 'info', 'debug', 'warn', 'error', 'trace', 'dir', 'table', 'group']) {
  console[name] = log;
}
process.on('uncaughtException', (error) => log('uncaught:', error));
process.on('unhandledRejection', (error) => log('unhandled rejection:', error));

// --- built-in objects: a script that changed them is the last one of this process ----------------------------------

const WATCHED = [
  Object, Object.prototype, Array, Array.prototype, String.prototype, Number, Number.prototype, Function.prototype,
  Promise, Promise.prototype, JSON, Math, Map.prototype, Set.prototype, RegExp.prototype, Date, Date.prototype,
  Error.prototype, Reflect,
];
function picture() {
  const seen = [];
  for (const object of WATCHED) {
    const keys = ownKeys(object);
    seen.push(keys.length);
    for (let index = 0; index < keys.length; index++) {
      const found = getOwnPropertyDescriptor(object, keys[index]);
      seen.push('value' in found ? found.value : found.get);
    }
  }
  seen.push(ownKeys(globalThis).length, getPrototypeOf(globalThis));
  return seen;
}
let before = picture();
function isUntouched() {
  const now = picture();
  if (now.length !== before.length) return false;
  for (let index = 0; index < now.length; index++) if (!is(now[index], before[index])) return false;
  return true;
}

// --- sources -------------------------------------------------------------------------------------------------------

const functions = new Map();

function syntaxError(body) {
  try {
    new FunctionClass('output', 'context', 'require', body);
    return null;
  } catch (error) {
    if (error instanceof SyntaxErrorClass) return error;
    throw error;
  }
}

function inline(code, purpose) {
  const body = bodyOf(code, (text) => syntaxError(text) === null, purpose);
  const error = syntaxError(body);
  if (error) return { answer: { uncompiled: { error: error.message, line: 0, column: 0 } } };
  const made = new FunctionClass('output', 'context', 'require', body);
  const require = createRequire(path.join(process.cwd(), 'inline.js'));
  return { run: (output, context) => made(output, context, require) };
}

async function imported(file) {
  try {
    return await import(pathToFileURL(file).href);
  } catch (error) {
    // CommonJS in a package that calls itself an ES module.
    if (!(error instanceof ReferenceError) || !/\.[jt]s$/.test(file) || !/ES module scope/.test(error.message)) throw error;
    const module = new Module(file);
    module.filename = file;
    module.paths = Module._nodeModulePaths(path.dirname(file));
    module._compile(fs.readFileSync(file, 'utf8'), file);
    return { default: module.exports };
  }
}

const own = (object, key) => object !== null && object !== undefined && Object.hasOwn(object, key);

function pick(namespace, name) {
  const exported = namespace.default;
  if (!name) {
    if (typeof exported === 'function') return exported;
    return own(exported, 'default') ? exported.default : exported;
  }
  if (own(namespace, name)) return namespace[name];
  if (own(exported, name)) return exported[name];
  return own(exported, 'default') && own(exported.default, name) ? exported.default[name] : undefined;
}

async function fromFile({ file, name }) {
  let namespace;
  try {
    namespace = await imported(file);
  } catch (error) {
    const { name: type, message } = parse(values.thrown(error));
    const text = `${path.basename(file)} cannot be loaded: ${type ? type + ': ' : ''}${message}`;
    return { answer: { broken: text.slice(0, 2000) } };
  }
  const found = pick(namespace, name);
  if (typeof found === 'function') return { run: (output, context) => found(output, context) };
  const names = ownKeys(namespace).filter((key) => typeof key === 'string');
  const what = name ? `no function \`${name}\`` : 'no function as its default export';
  return { answer: { broken: `${path.basename(file)} exports ${what}; it exports ${names.join(', ') || 'nothing'}` } };
}

async function prepared(key, source, purpose) {
  let found = functions.get(key);
  if (!found) {
    if (source === undefined) return { answer: { unknown: true } };
    found = typeof source === 'string' ? inline(source, purpose) : await fromFile(source);
    functions.set(key, found);
    // What a module changes while it is loaded (a polyfill, say) belongs to it.
    before = picture();
  }
  return found;
}

// --- values --------------------------------------------------------------------------------------------------------

function read(source, specials) {
  if (!specials) return parse(source);
  const root = { value: parse(source) };
  for (const [steps, type, shown] of parse(specials)) {
    let owner = root;
    let key = 'value';
    for (const step of steps) {
      owner = owner[key];
      key = step;
    }
    owner[key] = type === 'bigint' ? BigInt(shown) : Number(shown);
  }
  return root.value;
}

function contextOf(batch, config, configSpecials) {
  if (!batch.context) return undefined;
  const context = read(batch.context, batch.context_specials);
  if (batch.purpose === 'value') return context;
  const { provider } = context;
  if (!('prompt' in context)) context.prompt = undefined;
  if (!('logProbs' in context)) context.logProbs = undefined;
  if (provider) {
    const { id } = provider;
    provider.id = () => id;
    provider.callApi = () => {
      throw new Error('`context.provider.callApi` is not available in assertions');
    };
  }
  if (config) context.config = read(config, configSpecials);
  return context;
}

function isOutOfMemory(error) {
  try {
    return (
      error instanceof RangeErrorClass && /^(Array buffer allocation failed|Failed to allocate memory)/.test(error.message)
    );
  } catch {
    return false; // a proxy, which resists being looked at
  }
}

async function evaluate(batch, [key, config, configSpecials]) {
  const found = await prepared(key, batch.sources[key], batch.purpose);
  lines = [];
  lineRoom = 65536;
  if (found.answer) return stringify(found.answer);
  if (batch.dry) return '{"returned":true}';
  let answer;
  try {
    const output = batch.output_is_text ? batch.output : read(batch.output, batch.output_specials);
    const returned = await found.run(output, contextOf(batch, config, configSpecials));
    if (batch.purpose === 'value') answer = '{"value":' + stringify(values.json(returned));
    else answer = '{"returned":' + values.returned(returned);
  } catch (error) {
    if (isOutOfMemory(error)) answer = '{"memory":true';
    else if (values.TooLarge.is(error)) answer = '{"too_large":true';
    else if (values.Unfit.is(error)) answer = '{"unfit":' + stringify(error.message);
    else answer = '{"threw":' + values.thrown(error);
  }
  return answer + (lines.length ? ',"console":' + stringify(lines) : '') + '}';
}

// --- the channel ---------------------------------------------------------------------------------------------------

const write = channel.write.bind(channel);
const end = process.exit.bind(process);

function send(text) {
  const body = bufferFrom(text, 'utf8');
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return new Promise((sent) => write(Buffer.concat([head, body]), sent));
}

async function answer(batch) {
  const { scripts } = batch;
  for (let index = 0; index < scripts.length; index++) {
    const text = await evaluate(batch, scripts[index]);
    const isLast = index === scripts.length - 1;
    const isTainted = !isUntouched();
    const done = isLast || isTainted;
    await send(`{"results":[[${scripts[index][3]},${text}]],"done":${done},"last":${isTainted}}`);
    if (isTainted) return end(0);
  }
}

let pieces = [];
let size = 0;
let queue = Promise.resolve();
channel.on('data', (data) => {
  pieces.push(data);
  size += data.length;
  if (pieces.length > 1 && size > 4 && size < pieces[0].readUInt32BE(0) + 4 && pieces[0].length >= 4) return;
  let all = pieces.length === 1 ? data : Buffer.concat(pieces);
  while (all.length >= 4 && all.length >= all.readUInt32BE(0) + 4) {
    const length = all.readUInt32BE(0);
    const batch = parse(all.toString('utf8', 4, 4 + length));
    all = all.subarray(4 + length);
    queue = queue.then(() => answer(batch));
  }
  pieces = all.length ? [all] : [];
  size = all.length;
});
channel.on('end', () => end(0));
channel.on('error', () => end(0));
await send('{"ready":true}');
