import { ConsoleStdout, File, OpenFile, WASI } from "@bjorn3/browser_wasi_shim";
import { RubyVM } from "@ruby/wasm-wasi/dist/vm";
import { RUBY_PROGRAM } from "./ruby-program.ts";
import { WASM_PRELUDE } from "./wasm-prelude.ts";
import type {} from "./webassembly.ts";

export interface Ruby {
  /** One call of the program: base64 in, base64 out. */
  render(request: string): string;
  /** What it holds by now; it never gives any back. */
  memory(): number;
}

/** The parts of the bridge to JavaScript that errors and strings need; all others let a template reach the host. */
const HARMLESS = /^rb_wasm_throw|rb-object-to-js-rb-value/;

/** CRuby in WebAssembly, with no files, no environment, no network, and no way into JavaScript. */
export async function bootRuby(module: WebAssembly.Module): Promise<Ruby> {
  const silent = ConsoleStdout.lineBuffered(() => {});
  const wasip1 = new WASI([], [], [new OpenFile(new File([])), silent, silent], { debug: false });
  const { vm, instance } = await RubyVM.instantiateModule({
    module,
    wasip1,
    args: ["ruby.wasm", "-EUTF-8", "--disable-gems", "-e_=0"],
    addToImports: (imports) => cutBridge(imports["rb-js-abi-host"] ?? {}),
  });
  vm.eval(WASM_PRELUDE);
  vm.eval(RUBY_PROGRAM);
  const { memory } = instance.exports;
  return {
    render: (request) => vm.eval(`SlipwayTemplates.render("${request}")`).toString(),
    memory: () => (memory instanceof WebAssembly.Memory ? memory.buffer.byteLength : 0),
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
