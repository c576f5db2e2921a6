import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import { apply } from "../../actions/apply.ts";
import { compilePackage } from "../../actions/compile_package.ts";
import { prepare } from "../../actions/prepare.ts";
import { type KillPoint, killAtOperation } from "./kill-at-operation.ts";
import { callOf, labServices } from "./lab.ts";

/** One message to an agent that may be killed in it. */
export interface Doomed {
  readonly base: string;
  readonly death?: KillPoint;
  readonly message:
    | { readonly name: "apply"; readonly spec: ApplySpec }
    | { readonly name: "prepare"; readonly spec: ApplySpec }
    | { readonly name: "compile"; readonly blobId: string; readonly digest: string };
}

async function main({ base, death, message }: Doomed): Promise<void> {
  const call = callOf(await labServices(base));
  const seen = await killAtOperation(base, death);
  if (message.name === "apply") await apply({ spec: message.spec }, call);
  else if (message.name === "prepare") await prepare({ spec: message.spec }, call);
  else {
    const { blobId, digest } = message;
    await compilePackage({ blobId, digest, name: "app", version: "1", dependencies: null }, call);
  }
  process.stdout.write(JSON.stringify(seen()));
}

void main(JSON.parse(process.argv[2] ?? "") as Doomed);
