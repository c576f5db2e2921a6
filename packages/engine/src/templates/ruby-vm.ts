import { readSync } from "node:fs";
import { ConsoleStdout, File, OpenFile, WASI } from "@bjorn3/browser_wasi_shim";
import { RubyVM } from "@ruby/wasm-wasi/dist/vm";
import { RUBY_PROGRAM } from "./ruby-program.ts";
import { differingPages, PAGE, type Snapshot } from "./ruby-snapshot.ts";
import type { DataRun, WasmFile } from "./wasm-file.ts";
import { globalName } from "./wasm-memory.ts";
import { WASM_PRELUDE } from "./wasm-prelude.ts";
import type {} from "./webassembly.ts";

export interface Ruby {
  /** One call of the program: base64 in, base64 out. */
  render(request: string): string;
  /** Returns the memory in use; it never shrinks. */
  memory(): number;
}

const ARGUMENTS = ["ruby.wasm", "-EUTF-8", "--disable-gems", "-e_=0"];
const WASM_PAGE = 65_536;
/**
 * Free bytes at the end of the memory: the allocator asks for one page at a time, and for V8 each time makes a new buffer of all
 * the memory, whose size soon makes it collect garbage. Pages that nothing has written to take no memory of the machine.
 */
const HEADROOM = 32 * 2 ** 20;
const STANDARD_STREAMS = 3;
/** Shorter data of the module is part of the snapshot: a page is copied faster than it is read. */
const SHORTEST_RUN = PAGE;

/** Everything but the module that a snapshot depends on. */
export const BOOT = JSON.stringify([ARGUMENTS, WASM_PRELUDE, RUBY_PROGRAM, HEADROOM]);

/** The parts of the bridge to JavaScript that errors and strings need; all others let a template reach the host. */
const HARMLESS = /^rb_wasm_throw|rb-object-to-js-rb-value/;

/** Boots CRuby and takes a snapshot of it: a second of processor time, against some milliseconds to restore it. */
export async function bootSnapshot(module: WebAssembly.Module, file: WasmFile): Promise<Snapshot> {
  const { vm, wasi, instance, memory, globals } = await instantiate(module);
  const all = await file.runs();
  readRuns(file, all, new Uint8Array(memory.buffer));
  wasi.initialize(instance);
  vm.initialize(ARGUMENTS);
  vm.eval(WASM_PRELUDE);
  vm.eval(RUBY_PROGRAM);
  vm.eval(`String.new(capacity: ${HEADROOM}).clear`);
  vm.eval("GC.start");
  if (wasi.fds.length > STANDARD_STREAMS) throw new Error("Ruby holds files open: no snapshot can be taken");
  const after = new Uint8Array(memory.buffer);
  const values = globals.map(({ value }) => Number(value));
  const runs = all.filter(({ length }) => length >= SHORTEST_RUN);
  const before = new Uint8Array(after.length);
  readRuns(file, runs, before);
  return { memory: after.length, globals: values, runs, ...differingPages(before, after) };
}

/** CRuby in WebAssembly as the snapshot has it, with no files, no environment, no network, and no way into JavaScript. */
export async function restoreRuby(
  module: WebAssembly.Module,
  snapshot: Snapshot,
  file: WasmFile,
): Promise<Ruby> {
  const { vm, memory, globals } = await instantiate(module);
  memory.grow((snapshot.memory - memory.buffer.byteLength) / WASM_PAGE);
  const bytes = new Uint8Array(memory.buffer);
  readRuns(file, snapshot.runs, bytes);
  for (const [at, page] of snapshot.pages.entries())
    bytes.set(snapshot.contents.subarray(at * PAGE, (at + 1) * PAGE), page * PAGE);
  for (const [at, one] of globals.entries()) one.value = snapshot.globals[at];
  // All restored interpreters would otherwise draw the same random numbers.
  vm.eval("srand");
  return {
    render: (request) => vm.eval(`SlipwayTemplates.render("${request}")`).toString(),
    memory: () => memory.buffer.byteLength,
  };
}

/** Fills a memory from the file. */
function readRuns({ fd }: WasmFile, runs: readonly DataRun[], bytes: Uint8Array): void {
  for (const { file, memory, length } of runs)
    for (let done = 0; done < length; ) {
      const read = readSync(fd, bytes, memory + done, length - done, file + done);
      if (read === 0) throw new Error("the file of the built-in Ruby is cut off");
      done += read;
    }
}

/** An instance of the module in which nothing has run yet. Its table of functions never changes: C has no way to. */
async function instantiate(module: WebAssembly.Module) {
  const silent = ConsoleStdout.lineBuffered(() => {});
  const wasi = new WASI([], [], [new OpenFile(new File([])), silent, silent], { debug: false });
  const vm = new RubyVM();
  const imports: WebAssembly.Imports = { wasi_snapshot_preview1: wasi.wasiImport };
  vm.addToImports(imports);
  cutBridge(imports["rb-js-abi-host"] ?? {});
  const instance = await WebAssembly.instantiate(module, imports);
  await vm.setInstance(instance);
  const { memory, _initialize } = instance.exports;
  if (!(memory instanceof WebAssembly.Memory) || !(_initialize instanceof Function))
    throw new Error("this module is no Ruby");
  wasi.inst = { exports: { memory } };
  const globals: WebAssembly.Global[] = [];
  for (let at = 0; globalName(at) in instance.exports; at++) {
    const one = instance.exports[globalName(at)];
    if (one instanceof WebAssembly.Global) globals.push(one);
  }
  return {
    vm,
    wasi,
    memory,
    globals,
    instance: { exports: { memory, _initialize: () => void _initialize() } },
  };
}

function cutBridge(bridge: WebAssembly.ModuleImports): void {
  for (const name of Object.keys(bridge)) {
    if (HARMLESS.test(name.split(":", 1)[0] ?? "")) continue;
    bridge[name] = () => {
      throw new Error("templates cannot use JavaScript");
    };
  }
}
