import { hostOf } from "@slipway/kernel/http/wire";
import type { TypedInput } from "../command.ts";
import { type AgentEndpoint, ENV_NAME } from "../create-env/agents/at-endpoint.ts";
import { Contradiction } from "../parse/errors.ts";
import { BadCaCert } from "../session/errors.ts";
import { pemOf } from "../session/session.ts";

const PORT = 6868;

/** Undefined: a Director is asked. `slug`: the instance that was named beside it. */
export async function endpointOf(
  given: TypedInput,
  env: NodeJS.ProcessEnv,
  slug: string | undefined,
): Promise<AgentEndpoint | undefined> {
  if (!given.flag("director")) {
    for (const option of ["agent-endpoint", "agent-certificate"])
      if (given.text(option) !== undefined)
        throw Contradiction({ problem: `--${option} is of --director, which is not given` });
    return undefined;
  }
  if (slug !== undefined && slug !== ENV_NAME)
    throw Contradiction({ problem: `--director means the one VM of create-env, and '${slug}' another one` });
  if (given.text("deployment") !== undefined)
    throw Contradiction({
      problem: "--director means the VM of create-env, which is in no deployment: leave out -d",
    });
  const url = given.text("agent-endpoint") || env.BOSH_AGENT_ENDPOINT || "";
  const certificate = given.text("agent-certificate") || env.BOSH_AGENT_CERTIFICATE || "";
  if (url === "" || certificate === "")
    throw Contradiction({
      problem:
        "the --director flag requires both the --agent-endpoint and --agent-certificate flags to be set",
    });
  return { ...readUrl(url), ca: await caOf(certificate) };
}

/** Parses the endpoint. Errors do not repeat it: it holds a password. */
function readUrl(given: string): Omit<AgentEndpoint, "ca"> {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isIt =
    url?.protocol === "https:" && url.hostname !== "" && url.username !== "" && url.password !== "";
  try {
    if (url !== undefined && isIt)
      return {
        host: hostOf(url),
        port: url.port === "" ? PORT : Number(url.port),
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
      };
  } catch {
    // An invalid percent-encoding.
  }
  throw Contradiction({ problem: "--agent-endpoint is not of the form https://user:password@host:6868" });
}

async function caOf(given: string): Promise<string> {
  try {
    return await pemOf(given);
  } catch (cause) {
    if (!BadCaCert.is(cause)) throw cause;
    throw Contradiction({ problem: "--agent-certificate is no certificate in PEM, and no file with one" });
  }
}
