import { type Info, info } from "@slipway/protocol/director/info";
import { SILENT } from "../api/follow.ts";
import type { Tools } from "../tools.ts";
import { LoginFailed, NoCredentials, UaaRefused } from "./errors.ts";
import type { RememberedLogin } from "./logins.ts";
import { openClient, uaaOf, wireTo } from "./open-client.ts";
import type { Session } from "./session.ts";
import { CLI_CLIENT, type Prompt, UaaClient } from "./uaa-client.ts";

const TRIES = 3;

type Needed = Pick<Tools, "ui" | "clock" | "stop" | "home" | "proxy">;

/** Returns the Director's information, including whether it knows the user. */
export async function infoFor(session: Session, tools: Omit<Needed, "ui">): Promise<Info> {
  const client = openClient(session, { ...tools, teller: SILENT }, tools.home);
  try {
    return await client.json({ method: "GET", path: "/info" }, info);
  } finally {
    client.close();
  }
}

/** Credentials to remember of a user: a password, or tokens. */
export type LoginCredentials = Required<Pick<RememberedLogin, "user">> &
  Pick<RememberedLogin, "password" | "uaa_url" | "access_token" | "refresh_token">;

/** Asks for missing credentials, and again if they are wrong; tries given ones once. */
export async function authenticate(
  session: Session,
  given: { readonly client: string | undefined; readonly clientSecret: string | undefined },
  tools: Needed,
): Promise<LoginCredentials> {
  const { url, ca } = session;
  const uaaUrl = await uaaOf(session, tools);
  if (uaaUrl !== undefined) {
    const uaa = new UaaClient({ url: uaaUrl, ca, ...tools, wire: wireTo(session, tools) });
    try {
      return await (given.client === undefined ? asUser(uaa, tools) : asClient(uaa, given, tools));
    } finally {
      uaa.close();
    }
  }
  for (let attempt = 1; ; attempt++) {
    const user = given.client ?? (await filled(tools, "Username", false));
    const password = given.clientSecret ?? (await filled(tools, "Password", true));
    if ((await infoFor({ ...session, url, ca, user, password }, tools)).user) return { user, password };
    const last = attempt >= TRIES || (given.client !== undefined && given.clientSecret !== undefined);
    if (last) throw LoginFailed({ url, user });
    tools.ui.note(`The Director at ${url} does not know '${user}' by this password.`);
  }
}

/** Logs in with the answers to the UAA's prompts. The password is not remembered. */
async function asUser(uaa: UaaClient, tools: Needed): Promise<LoginCredentials> {
  const prompts = await uaa.prompts();
  for (let attempt = 1; ; attempt++) {
    const answers = await answersTo(prompts, tools);
    try {
      const got = await uaa.grant(CLI_CLIENT, { grant_type: "password", ...answers });
      if (!got.refresh_token) throw UaaRefused({ url: uaa.url, client: CLI_CLIENT.id });
      return {
        user: answers.username ?? "",
        uaa_url: uaa.url,
        access_token: `${got.token_type || "bearer"} ${got.access_token}`,
        refresh_token: got.refresh_token,
      };
    } catch (error) {
      if (!UaaRefused.is(error) || attempt >= TRIES) throw error;
      tools.ui.note(`The UAA at ${uaa.url} does not know '${answers.username ?? ""}' by this password.`);
    }
  }
}

async function answersTo(prompts: readonly Prompt[], { ui }: Needed): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const { key, label, hidden } of prompts) {
    const answer = await ui.ask(label, { hidden });
    if (answer !== "") answers[key] = answer;
  }
  if (answers.username === undefined) throw NoCredentials({ what: "the username" });
  return answers;
}

async function asClient(
  uaa: UaaClient,
  given: { readonly client: string | undefined; readonly clientSecret: string | undefined },
  tools: Needed,
): Promise<LoginCredentials> {
  const user = given.client ?? "";
  const password = given.clientSecret ?? (await filled(tools, "Client secret", true));
  await uaa.grant({ id: user, secret: password }, { grant_type: "client_credentials" });
  return { user, password, uaa_url: uaa.url };
}

async function filled({ ui }: Needed, question: string, hidden: boolean): Promise<string> {
  const answer = await ui.ask(question, { hidden });
  if (answer === "") throw NoCredentials({ what: `the ${question.toLowerCase()}` });
  return answer;
}
