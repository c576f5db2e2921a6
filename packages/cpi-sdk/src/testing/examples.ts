import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import { readExample } from "@slipway/testkit/wire-examples";

interface ExampleRequest {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly context: object;
  readonly api_version?: number;
}

/** The frozen request of the wire contract for one method, of a version or a draft. */
export const exampleRequest = (
  method: string,
  version: ApiVersion | "drafts/a" | "drafts/b",
): ExampleRequest =>
  readExample(
    `${typeof version === "number" ? `v${version}` : version}/${method}.request.json`,
  ) as ExampleRequest;
