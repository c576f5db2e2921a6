// Stands at the top of every packed program (tools/code-cache.mjs): compiles the code of the program with V8's code cache.
// The cache stands beside the program and is a matter of speed only: whatever is wrong with it, the code is compiled
// without it.
const fs = require("node:fs");
const { Script } = require("node:vm");

/** Filled in by the packer. */
const { id, main, beside, total, modules } = PACKED;

const CACHE = `${__filename}.${process.version}-${process.arch}.cache`;
const OTHERS_WRITE = 0o022;
const WORD = 8;
const EVERY = 16;
const fd = fs.openSync(beside ? `${__filename.slice(0, -".cjs".length)}.pack` : __filename, "r");
const owner = fs.fstatSync(fd);
// Inside the program the code is a comment, which two characters end.
const start = beside ? 0 : owner.size - total - 2;
const loaded = new Map();
const scripts = new Map();
const cached = readCache();
let fresh = 0;

function bytesAt(position, length) {
  const bytes = Buffer.allocUnsafeSlow(length);
  let got = 0;
  while (got < length) {
    const count = fs.readSync(fd, bytes, got, length - got, position + got);
    if (count === 0) throw new Error(`${__filename} is cut off: install it again`);
    got += count;
  }
  return bytes;
}

/**
 * V8 ends the process over damaged data instead of refusing it. Looks at one word of each cache line: what a crash or a full
 * disk damages are sectors, and this code is interpreted.
 */
function checksum(bytes) {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  let low = bytes.length;
  let high = 0;
  for (let at = 0; at < words.length; at += EVERY) {
    low = (low + words[at]) | 0;
    high = (high + low) | 0;
  }
  return `${low},${high}`;
}

/** Data by module. Code of somebody who could not have written the program itself is not run. */
function readCache() {
  const data = new Map();
  let file;
  try {
    file = fs.openSync(CACHE, "r");
    const { uid, mode, size } = fs.fstatSync(file);
    const trusted = uid === 0 || uid === owner.uid || uid === process.getuid?.();
    if (!trusted || (mode & OTHERS_WRITE) !== 0) return data;
    const bytes = Buffer.allocUnsafeSlow(size);
    if (fs.readSync(file, bytes, 0, size, 0) !== size) return data;
    const end = bytes.indexOf("\n");
    const header = JSON.parse(bytes.latin1Slice(0, end));
    if (header.id !== id) return data;
    for (const [name, at, length, sum] of header.entries) {
      const part = bytes.subarray(at, at + length);
      if (part.length === length) data.set(name, { part, sum });
    }
  } catch {
    data.clear();
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
  return data;
}

function compiled(name, [position, length, changed]) {
  const bytes = bytesAt(start + position, length);
  for (const at of changed) bytes[at] = 0x2f;
  const kept = cached.get(name);
  const cachedData = kept !== undefined && checksum(kept.part) === kept.sum ? kept.part : undefined;
  const filename = name === main ? __filename : `${__filename}/${name}`;
  const script = new Script(bytes.latin1Slice(), { filename, cachedData });
  if (cachedData === undefined || script.cachedDataRejected) {
    cached.delete(name);
    fresh++;
  }
  scripts.set(name, script);
  return script.runInThisContext();
}

function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const made = { exports: {} };
  loaded.set(name, made);
  compiled(name, modules[name])(made.exports, requires, made, __filename, __dirname);
  return made.exports;
}

const requires = Object.setPrototypeOf(
  (name) => (Object.hasOwn(modules, name) ? load(name) : require(name)),
  require,
);

/** At the end, so that the functions that were called are in it; by rename, since others may start or end now. */
function writeCache() {
  // V8 refuses the cache of a process with other flags: those that have some only read it.
  if (fresh === 0 || process.execArgv.length > 0 || process.env.NODE_OPTIONS) return;
  if (!require("node:worker_threads").isMainThread) return;
  const draft = `${CACHE}.${process.pid}`;
  let file;
  try {
    file = fs.openSync(draft, "wx", 0o644);
  } catch {
    return;
  }
  try {
    const parts = new Map([...cached].map(([name, { part }]) => [name, part]));
    for (const [name, script] of scripts)
      if (!parts.has(name)) {
        const data = script.createCachedData();
        const whole = Buffer.alloc(Math.ceil(data.length / WORD) * WORD);
        data.copy(whole);
        parts.set(name, whole);
      }
    // Room for the header first: offsets are part of it.
    const room = Math.ceil((100 + 100 * parts.size) / WORD) * WORD;
    let at = room;
    const entries = [];
    for (const [name, part] of parts) {
      entries.push([name, at, part.length, checksum(part)]);
      at += part.length;
    }
    const header = Buffer.alloc(room, " ");
    header.write(`${JSON.stringify({ id, entries })}\n`);
    const bytes = Buffer.concat([header, ...parts.values()]);
    let put = 0;
    while (put < bytes.length) put += fs.writeSync(file, bytes, put);
    fs.fsyncSync(file);
    fs.renameSync(draft, CACHE);
  } catch {
    fs.rmSync(draft, { force: true });
  } finally {
    fs.closeSync(file);
  }
}

process.on("exit", writeCache);
load(main);
