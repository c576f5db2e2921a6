import { Client } from "../api/client.ts";
import { findSession } from "../session/session.ts";
import type { Tools } from "../tools.ts";
import type { Reach } from "../up/running.ts";

/** Nobody is told of its tasks: the story has words of its own. */
const SILENT = { chunk() {}, taskBegins() {}, taskEnds() {}, note() {} };

/** The home's own Director, whatever BOSH_ENVIRONMENT says. */
export async function connect(
  { url, caFile }: Reach,
  { home, clock, stop }: Pick<Tools, "home" | "clock" | "stop">,
): Promise<Client> {
  const asked = { environment: url, caCert: caFile, client: undefined, clientSecret: undefined };
  return new Client({ ...(await findSession(asked, home)), clock, stop, teller: SILENT });
}
