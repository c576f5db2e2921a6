import type { Message } from "@slipway/protocol/agent/message";
import { check, kindOf } from "@slipway/protocol/schema/check";
import { normalize } from "./normalize.ts";

/**
 * The arguments by name, as an action takes them. Throws upstream's texts; what is wrong inside an argument is said in
 * our own words, which never quote a value.
 */
export function readArguments(message: Message, given: unknown): Readonly<Record<string, unknown>> {
  if (!Array.isArray(given)) {
    throw new Error(
      `Extracting json arguments: Unmarshalling payload arguments to interface{} types: expected an array, got ${kindOf(given)}`,
    );
  }
  const least = message.args.filter((arg) => !arg.optional).length;
  if (given.length < least) throw bad(`Not enough arguments, expected ${least}, got ${given.length}`);
  const byName: Record<string, unknown> = {};
  message.args.slice(0, given.length).forEach((arg, at) => {
    const checked = check(arg.schema, normalize(arg.schema, given[at]), arg.name);
    if (!checked.ok) throw bad(`Unmarshalling action argument: ${checked.problems.join("; ")}`);
    byName[camel(arg.name)] = checked.value;
  });
  return byName;
}

const bad = (why: string) => new Error(`Extracting method arguments from payload: ${why}`);

const camel = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
