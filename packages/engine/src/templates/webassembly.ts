/** The part of the platform's WebAssembly that is used here. Node has it; the library of DOM types would bring all of a browser. */
declare global {
  namespace WebAssembly {
    class Module {
      private readonly compiled: true;
    }
    interface Instance {
      readonly exports: Readonly<Record<string, unknown>>;
    }
    class Memory {
      readonly buffer: ArrayBuffer;
      grow(pages: number): number;
    }
    class Global {
      value: unknown;
    }
    type ModuleImports = Record<string, unknown>;
    type Imports = Record<string, ModuleImports>;
    function compile(bytes: Uint8Array): Promise<Module>;
    function instantiate(module: Module, imports: Imports): Promise<Instance>;
  }
}

export {};
