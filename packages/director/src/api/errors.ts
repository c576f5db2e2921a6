import { defineError, SlipwayError } from "@slipway/kernel/errors";
import { type Reply, refusal } from "./reply.ts";

/** Every failure the API names itself. What it refuses its callers is in `refusals.ts`. */

export const CannotListen = defineError<{ host: string; port: number }>({
  code: "DIH-001",
  kind: "operator",
  message: (p) => `the Director cannot listen on ${p.host} port ${p.port}`,
  next: "Choose an address of this machine and a free port, or stop what listens there.",
});

export const BadUsers = defineError<{ why: string }>({
  code: "DIH-002",
  kind: "operator",
  message: (p) => `the Director's users are not acceptable: ${p.why}`,
  next: "Give at least one user. A name is not empty and has no colon, and no two are the same.",
});

export const RequestFailed = defineError<{ method: string; route: string }>({
  code: "DIH-003",
  kind: "bug",
  message: (p) => `a request ${p.method} ${p.route} could not be answered`,
  next: "Report this with the cause.",
});

export const BadCertificate = defineError<Record<never, never>>({
  code: "DIH-004",
  kind: "operator",
  message: () => "the Director's TLS certificate and key cannot be used",
  next: "Remove them from the state directory, and new ones are made at the next start.",
});

/** Error 100 with HTTP 500 says nothing more: what is behind it may hold secrets, and stands in the log. */
export function errorReply(error: unknown): Reply {
  if (error instanceof SlipwayError && error.number !== undefined)
    return problem(error.status ?? 400, error.number, `${error.message}. ${error.next}`);
  if (error instanceof SlipwayError && error.kind !== "bug") {
    return problem(
      error.status ?? (error.kind === "operator" ? 400 : 500),
      100,
      `${error.message}. ${error.next}`,
    );
  }
  return problem(500, 100, "the Director failed to answer this request; its log says why");
}

/** Reports whether the Director caused an error, not the caller. */
export function isOurs(error: unknown): boolean {
  if (!(error instanceof SlipwayError)) return true;
  return error.number === undefined
    ? error.kind !== "operator"
    : (error.status ?? 400) >= 500 && error.status !== NO_ROOM;
}

/** A full disk is no mistake of the Director: the caller and `slipway status` say so. */
const NO_ROOM = 507;

const problem = (status: number, code: number, description: string): Reply =>
  refusal({ code, description }, status);
