import {
  basicAuth,
  type HttpClientOptions,
  type HttpReply,
  type HttpRequest,
  HttpTrouble,
  requestOnce,
} from "./client.ts";

const MOST_REDIRECTS = 10;
/** Only these repeat a request that is no GET. */
const SAME_METHOD = [307, 308];
const REDIRECTS = [301, 302, 303, ...SAME_METHOD];

/**
 * Asks for a URL wherever it is redirected to. Credentials, those in it and an `authorization`, go only to its own
 * origin; https never becomes http. What is sent must be bytes, to be sent again.
 */
export async function follow(
  start: URL,
  asked: Omit<HttpRequest, "path" | "body"> & { readonly body?: string | Uint8Array },
  options: Omit<HttpClientOptions, "origin">,
): Promise<HttpReply> {
  let url = start;
  const { authorization = credentialsOf(start), ...others } = asked.headers ?? {};
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const trusted = authorization !== undefined && url.origin === start.origin;
    const headers = trusted ? { ...others, authorization } : others;
    const path = `${url.pathname}${url.search}`;
    const reply = await requestOnce({ ...options, origin: url }, { ...asked, headers, path });
    if (!(asked.method === "GET" ? REDIRECTS : SAME_METHOD).includes(reply.status)) return reply;
    reply.discard();
    const next = redirected(url, reply.header("location"));
    if (typeof next === "string") throw astray(next);
    url = next;
  }
  throw astray(`it redirects more than ${MOST_REDIRECTS} times`);

  function astray(why: string): HttpTrouble {
    const doing = asked.doing ?? `${asked.method} ${start.origin}${start.pathname}`;
    return new HttpTrouble("astray", doing, why, { phase: "answering", reused: false });
  }
}

/** Returns the target of a redirect, or the reason not to follow it. */
function redirected(from: URL, location: string | undefined): URL | string {
  if (location === undefined || !URL.canParse(location, from.href)) return "it redirects to nowhere";
  const to = new URL(location, from);
  if (!["http:", "https:"].includes(to.protocol)) return `it redirects to a ${to.protocol} address`;
  if (from.protocol === "https:" && to.protocol === "http:") return "it redirects from https to http";
  return to;
}

const credentialsOf = ({ username, password }: URL): string | undefined =>
  username === "" && password === ""
    ? undefined
    : basicAuth(decodeURIComponent(username), decodeURIComponent(password));
