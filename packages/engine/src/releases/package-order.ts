import { PackageCycle } from "./errors.ts";

interface Depending {
  readonly name: string;
  /** Names of others; what is not among them is passed over. */
  readonly dependencies: readonly string[];
}

/** Each after those it is compiled with. Without recursion: how deep it goes is the release's to say. */
export function dependenciesFirst<P extends Depending>(packages: readonly P[]): readonly P[] {
  const byName = new Map(packages.map((one) => [one.name, one]));
  const order: P[] = [];
  const seen = new Map<string, "open" | "done">();
  for (const root of packages) {
    const path: { readonly one: P; next: number }[] = [];
    const enter = (one: P) => {
      if (seen.get(one.name) === "open") {
        const names = path.map((above) => above.one.name);
        throw PackageCycle({ names: [...names.slice(names.indexOf(one.name)), one.name] });
      }
      if (seen.has(one.name)) return;
      seen.set(one.name, "open");
      path.push({ one, next: 0 });
    };
    enter(root);
    for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
      const name = at.one.dependencies[at.next++];
      const dependency = name === undefined ? undefined : byName.get(name);
      if (dependency !== undefined) enter(dependency);
      else if (name === undefined) {
        seen.set(at.one.name, "done");
        order.push(at.one);
        path.pop();
      }
    }
  }
  return order;
}
