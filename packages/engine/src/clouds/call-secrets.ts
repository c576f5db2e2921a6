import { cpiContext } from "@slipway/protocol/cpi/context";
import type { CpiRequest } from "@slipway/protocol/cpi/envelope";
import { methodNamed } from "@slipway/protocol/cpi/methods";
import { secretsIn } from "@slipway/protocol/schema/redact";
import { disks } from "@slipway/protocol/settings/disks";

/** The credentials of a call, for texts the CPI writes. */
export function secretsOf(request: CpiRequest): readonly string[] {
  const args = methodNamed(request.method)?.args ?? [];
  return [
    ...secretsIn(cpiContext, request.context),
    ...request.arguments.flatMap((value, at) => secretsIn(args[at]?.schema ?? disks, value)),
  ];
}
