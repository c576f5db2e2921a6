import { MonitFileInvalid } from "./errors.ts";
import type { Service } from "./monit-file/model.ts";

/**
 * All services of the monit files of a VM, each after what it depends on, otherwise in the order of the files. Refuses
 * what monit refuses: two of one name, a dependency that is not there, dependencies in a circle.
 */
export function inStartOrder(services: readonly Service[]): readonly Service[] {
  const byName = new Map<string, Service>();
  for (const service of services) {
    const first = byName.get(service.name);
    if (first !== undefined)
      throw invalid(service, service.line, `there is another ${service.name} in ${first.file}`);
    byName.set(service.name, service);
  }
  const ordered: Service[] = [];
  const state = new Map<Service, "begun" | "done">();
  // An explicit stack: a chain of dependencies may be longer than the program's.
  for (const root of services) {
    const stack = [{ service: root, next: 0 }];
    while (stack.length > 0) {
      const top = stack[stack.length - 1] as { service: Service; next: number };
      const { service } = top;
      if (top.next === 0 && state.get(service) === "done") {
        stack.pop();
        continue;
      }
      state.set(service, "begun");
      const dependency = service.dependsOn[top.next++];
      if (dependency === undefined) {
        state.set(service, "done");
        ordered.push(service);
        stack.pop();
        continue;
      }
      const needed = byName.get(dependency.name);
      if (needed === undefined)
        throw invalid(service, dependency.line, `it depends on ${dependency.name}, which no job has`);
      if (state.get(needed) === "begun")
        throw invalid(service, dependency.line, `${service.name} and ${needed.name} depend on each other`);
      if (state.get(needed) !== "done") stack.push({ service: needed, next: 0 });
    }
  }
  return ordered;
}

const invalid = (service: Service, line: number, why: string) =>
  MonitFileInvalid({ file: service.file, line, why: `check ${service.kind} ${service.name}: ${why}` });

/** Returns the services that depend on this one, directly or indirectly. */
export function dependentsOf(name: string, services: readonly Service[]): ReadonlySet<string> {
  const found = new Set<string>();
  // In start order each comes after what it depends on, so that one pass is enough.
  for (const service of services)
    if (service.dependsOn.some((one) => one.name === name || found.has(one.name))) found.add(service.name);
  return found;
}
