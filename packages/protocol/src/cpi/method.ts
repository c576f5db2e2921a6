import type * as v from "valibot";
import type { Schema } from "../schema/marks.ts";
import type { ApiVersion } from "./api-version.ts";
import type { CpiErrorName } from "./errors.ts";

/** snake_case of the wire to camelCase of the code. */
export type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
export const camel = <const S extends string>(name: S): Camel<S> =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as Camel<S>;

export interface Argument<
  N extends string = string,
  S extends Schema = Schema,
  V extends ApiVersion = ApiVersion,
> {
  readonly name: N;
  readonly schema: S;
  readonly doc: string;
  /** First version that sends it. */
  readonly since: V;
}

/** Result of a method from a version on, until the next entry. */
export interface Result<S extends Schema = Schema> {
  readonly since: ApiVersion;
  readonly schema: S;
  readonly doc: string;
}

export interface Method<
  N extends string = string,
  A extends readonly Argument[] = readonly Argument[],
  R extends readonly Result[] = readonly Result[],
> {
  readonly name: N;
  readonly summary: string;
  readonly args: A;
  readonly results: R;
  readonly since: ApiVersion;
  /** Last version that has it. */
  readonly until?: ApiVersion;
  /** False if a CPI may answer NotImplemented. */
  readonly mandatory: boolean;
  /** Effect of a second, equal call. */
  readonly repeat: "harmless" | "creates" | "fails";
  readonly errors: readonly CpiErrorName[];
  readonly rules: readonly string[];
}

export const arg = <const N extends string, const S extends Schema>(
  name: N,
  schema: S,
  doc: string,
): Argument<N, S, 1> => ({ name, schema, doc, since: 1 });

export const argSince = <const V extends ApiVersion, const N extends string, const S extends Schema>(
  since: V,
  name: N,
  schema: S,
  doc: string,
): Argument<N, S, V> => ({ name, schema, doc, since });

export const result = <const S extends Schema>(schema: S, doc: string, since: ApiVersion = 1): Result<S> => ({
  since,
  schema,
  doc,
});

export const method = <
  const N extends string,
  const A extends readonly Argument[],
  const R extends readonly Result[],
>(
  definition: Method<N, A, R>,
): Method<N, A, R> => definition;

/** The arguments of a method by name, as an author receives them: those of later versions may be missing. */
export type ArgsOf<M extends Method> = {
  readonly [K in M["args"][number] as K["since"] extends 1 ? Camel<K["name"]> : never]: v.InferOutput<
    K["schema"]
  >;
} & {
  readonly [K in M["args"][number] as K["since"] extends 1 ? never : Camel<K["name"]>]?:
    | v.InferOutput<K["schema"]>
    | undefined;
};

/** Value that the author of a CPI may return if the wire result is the same in every version. */
export type ReturnOf<M extends Method> = v.InferInput<M["results"][0]["schema"]>;

export const existsIn = (m: Method, version: ApiVersion): boolean =>
  version >= m.since && (m.until === undefined || version <= m.until);

export const argsIn = (m: Method, version: ApiVersion): readonly Argument[] =>
  m.args.filter((argument) => argument.since <= version);

export function resultIn(m: Method, version: ApiVersion): Result {
  const fitting = m.results.filter((entry) => entry.since <= version).at(-1);
  if (fitting === undefined) throw new Error(`bug: ${m.name} has no result for version ${version}`);
  return fitting;
}
