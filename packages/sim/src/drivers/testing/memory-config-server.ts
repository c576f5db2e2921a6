import type { ConfigServer } from "@slipway/engine/variables/config-server";
import { VariableMissing } from "@slipway/engine/variables/errors";
import type { Variable } from "@slipway/engine/variables/resolve";

export interface MemoryConfigServer extends ConfigServer {
  /** Sets a value from outside the Director. */
  set(name: string, value: unknown): void;
  /** Every version, newest last. */
  readonly versions: (Variable & { readonly name: string })[];
  /** Requests to generate, whether they had an effect or not. */
  readonly asked: { readonly name: string; readonly options: unknown }[];
}

/** A config server whose values are planted secrets, each another. */
export function memoryConfigServer(): MemoryConfigServer {
  const versions: MemoryConfigServer["versions"] = [];
  const add = (name: string, value: unknown) => {
    versions.push({ id: `id-${versions.length + 1}`, name, value });
    return `id-${versions.length}`;
  };
  const found = (name: string, id?: string): Variable => {
    const one = versions.findLast((each) => (id === undefined ? each.name === name : each.id === id));
    if (one === undefined) throw VariableMissing({ name, id, why: "none" });
    return one;
  };
  const asked: MemoryConfigServer["asked"] = [];
  return {
    versions,
    asked,
    set: add,
    newest: (name) => Promise.resolve().then(() => found(name)),
    byId: (id, name) => Promise.resolve().then(() => found(name, id)),
    generate: ({ name, type, mode, options }) => {
      asked.push({ name, options });
      const before = versions.findLast((one) => one.name === name);
      const value = `CANARY-${type}-${versions.length + 1}`;
      return Promise.resolve(before === undefined || mode === "overwrite" ? add(name, value) : before.id);
    },
  };
}
