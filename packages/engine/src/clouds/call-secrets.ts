import { cpiContext } from "@slipway/protocol/cpi/context";
import { type CpiRequest, redactRequest } from "@slipway/protocol/cpi/envelope";
import { methodNamed } from "@slipway/protocol/cpi/methods";
import { secretsIn } from "@slipway/protocol/schema/redact";
import { hiddenFrom } from "@slipway/protocol/schema/scrub";
import { disks } from "@slipway/protocol/settings/disks";

/** The credentials of a call, for texts the CPI writes. */
export function secretsOf(request: CpiRequest): readonly string[] {
  const args = methodNamed(request.method)?.args ?? [];
  return [
    ...secretsIn(cpiContext, request.context),
    ...request.arguments.flatMap((value, at) => secretsIn(args[at]?.schema ?? disks, value)),
  ];
}

/** Everything the log of the request does not show, for texts that may quote any of it. */
export const hiddenIn = (request: CpiRequest): readonly string[] =>
  hiddenFrom(request, redactRequest(request));
