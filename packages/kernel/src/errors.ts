/**
 * Party that must act: the `operator` made a mistake or must decide, something `outside` failed, or Slipway has a `bug`.
 */
export type ErrorKind = "operator" | "outside" | "bug";

export interface ErrorDefinition<P> {
  /** Stable and searchable: `REG-003`. */
  readonly code: string;
  readonly kind: ErrorKind;
  /** Says what happened, while doing what, to which thing. Never holds a secret. */
  readonly message: (params: P) => string;
  /** Next step of the operator. `{id}` becomes the parameter of that name. Empty if the message says it all. */
  readonly next: string;
  /** Marks mistakes in what was typed: a program that prints the error ends with 2. */
  readonly typed?: true;
  /** Upstream's number for it, which users of the `bosh` CLI know. */
  readonly number?: number | ((params: P) => number);
  /** HTTP status of the reply, if it is not 400. */
  readonly status?: number | ((params: P) => number);
}

export interface ErrorFactory<P> extends ErrorDefinition<P> {
  (params: P, options?: { readonly cause?: unknown }): SlipwayError;
  readonly is: (error: unknown) => error is SlipwayError;
  /**
   * Returns the parameters of an error of this kind, else undefined. They are kept apart from the error, so that nothing
   * prints them by chance.
   */
  readonly paramsOf: (error: unknown) => P | undefined;
}

interface MadeError extends Pick<ErrorDefinition<never>, "code" | "kind" | "next" | "typed"> {
  readonly message: string;
  readonly number: number | undefined;
  readonly status: number | undefined;
}

/** One failure of the catalogue, with its cause. Printed once, at the edge, by `errorText`. */
export class SlipwayError extends Error {
  override readonly name: string = "SlipwayError";
  readonly code: string;
  readonly kind: ErrorKind;
  readonly next: string;
  readonly typed: boolean;
  readonly number: number | undefined;
  readonly status: number | undefined;

  constructor(made: MadeError, cause?: unknown) {
    super(made.message, cause === undefined ? undefined : { cause });
    this.code = made.code;
    this.kind = made.kind;
    this.next = made.next;
    this.typed = made.typed === true;
    this.number = made.number;
    this.status = made.status;
  }
}

export function defineError<P>(definition: ErrorDefinition<P>): ErrorFactory<P> {
  const made = new WeakMap<SlipwayError, P>();
  const make = (params: P, options?: { readonly cause?: unknown }) => {
    const of = (value: number | ((given: P) => number) | undefined) =>
      typeof value === "function" ? value(params) : value;
    const { code, kind, typed } = definition;
    const next = filled(definition.next, params);
    const message = definition.message(params);
    const [number, status] = [of(definition.number), of(definition.status)];
    const error = new SlipwayError(
      { code, kind, next, message, number, status, ...(typed && { typed }) },
      options?.cause,
    );
    made.set(error, params);
    return error;
  };
  const is = (error: unknown): error is SlipwayError =>
    error instanceof SlipwayError && error.code === definition.code;
  const paramsOf = (error: unknown): P | undefined => (is(error) ? made.get(error) : undefined);
  return Object.assign(make, { ...definition, is, paramsOf });
}

/** Definition of a class of errors, whose message is made by the code that throws one. */
interface ErrorClassDefinition extends Pick<ErrorDefinition<never>, "code" | "kind" | "next"> {
  /** Text of the catalogue in place of the message. */
  readonly about: string;
}

/**
 * Returns a base class for errors of the catalogue that callers tell apart with `instanceof` and that have fields. The
 * definition is on the class, as on what `defineError` returns. A subclass may have another `code`.
 */
export function defineErrorClass(definition: ErrorClassDefinition) {
  return class extends SlipwayError {
    static readonly code: string = definition.code;
    static readonly kind: ErrorKind = definition.kind;
    static readonly next: string = definition.next;
    static readonly message = (): string => definition.about;

    constructor(message: string, options?: { readonly cause?: unknown }) {
      const { code, kind, next } = new.target;
      super({ code, kind, next, message, number: undefined, status: undefined }, options?.cause);
    }
  };
}

const filled = (next: string, params: unknown): string =>
  next.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.entries(params ?? {}).find(([key]) => key === name)?.[1];
    return typeof value === "string" || typeof value === "number" ? String(value) : whole;
  });

/** Anything thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error(`something other than an error was thrown: ${brief(thrown)}`);
}

function brief(thrown: unknown): string {
  if (typeof thrown === "string") return thrown.length > 200 ? `${thrown.slice(0, 200)}...` : thrown;
  if (typeof thrown === "object" && thrown !== null) return "an object";
  return String(thrown);
}

/** The message and those of its causes, each said once. */
export function messageTrail(error: unknown): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  let at: unknown = error;
  // Causes may go round in a circle.
  while (at !== undefined && parts.length < 8 && !seen.has(at)) {
    seen.add(at);
    const { message } = toError(at);
    if (message !== "" && !parts.some((part) => part.includes(message))) parts.push(message);
    at = at instanceof Error ? at.cause : undefined;
  }
  return parts.join(": ");
}

/** How an error reads at the edge of a program. */
export function errorText(error: unknown): string {
  if (!(error instanceof SlipwayError)) return messageTrail(error) || "unknown error";
  const lines = [`${error.code} ${error.message}`];
  if (error.cause !== undefined) lines.push(`  caused by: ${messageTrail(error.cause)}`);
  if (error.next !== "") lines.push(`  next: ${error.next}`);
  return lines.join("\n");
}

/** The `code` of a Node system error, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
