import { type Info, info } from "@slipway/protocol/director/info";
import { Client } from "../api/client.ts";
import { UaaWanted } from "../api/errors.ts";
import { SILENT } from "../api/follow.ts";
import type { Tools } from "../tools.ts";
import { LoginFailed, NoCredentials } from "./errors.ts";
import type { Session } from "./session.ts";

const TRIES = 3;

type Needed = Pick<Tools, "ui" | "clock" | "stop">;

/** What the Director says of itself, and whether it knows who asks. */
export async function infoFor(
  session: Session,
  { clock, stop }: Pick<Tools, "clock" | "stop">,
): Promise<Info> {
  const client = new Client({ ...session, clock, stop, teller: SILENT });
  try {
    return await client.json({ method: "GET", path: "/info" }, info);
  } finally {
    client.close();
  }
}

/** Asked for what is missing, and again when it is wrong; what was given is tried once. */
export async function authenticate(
  session: Session,
  given: { readonly client: string | undefined; readonly clientSecret: string | undefined },
  tools: Needed,
): Promise<{ readonly user: string; readonly password: string }> {
  const { url } = session;
  const info = await infoFor({ ...session, user: undefined, password: undefined }, tools);
  if (info.user_authentication?.type === "uaa") throw UaaWanted({ url });
  for (let attempt = 1; ; attempt++) {
    const user = given.client ?? (await filled(tools, "Username", false));
    const password = given.clientSecret ?? (await filled(tools, "Password", true));
    if ((await infoFor({ ...session, user, password }, tools)).user) return { user, password };
    const last = attempt >= TRIES || (given.client !== undefined && given.clientSecret !== undefined);
    if (last) throw LoginFailed({ url, user });
    tools.ui.note(`The Director at ${url} does not know '${user}' by this password.`);
  }
}

async function filled({ ui }: Needed, question: string, hidden: boolean): Promise<string> {
  const answer = await ui.ask(question, { hidden });
  if (answer === "") throw NoCredentials({ what: `the ${question.toLowerCase()}` });
  return answer;
}
