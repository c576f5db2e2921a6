import { Client } from "../api/client.ts";
import { SILENT } from "../api/follow.ts";
import { findSession } from "../session/session.ts";
import type { Tools } from "../tools.ts";
import type { Reach } from "../up/running.ts";

/** The home's own Director, whatever BOSH_ENVIRONMENT says. Of its tasks the story tells in words of its own. */
export async function connect(
  { url, caFile }: Reach,
  { home, clock, stop }: Pick<Tools, "home" | "clock" | "stop">,
): Promise<Client> {
  const asked = { environment: url, caCert: caFile, client: undefined, clientSecret: undefined };
  return new Client({ ...(await findSession(asked, home)), clock, stop, teller: SILENT });
}
