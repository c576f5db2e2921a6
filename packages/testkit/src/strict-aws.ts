import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { allOf, type Refused, type RuleInput, STRICT_RULES, unknownParameter } from "./strict-aws-rules.ts";

/** The key that the proxy knows; requests with another are refused. */
export const AWS_KEY = { access_key_id: "AKIASLIPWAYTEST", secret_access_key: "slipway-test-secret-key" };

interface Fault {
  readonly action: string;
  readonly does: "refuse" | "lose answer" | "cut";
  readonly refused: Refused;
  readonly status: number;
  left: number;
}

/** How long, in looks, a resource is not shown and then in its first state. */
interface Lag {
  hidden: number;
  first: number;
}

/** States that moto leaves out: what it answers at once, and what EC2 shows before. */
const FIRST_STATES: Readonly<Record<string, readonly [is: RegExp, shown: string, notFound: string]>> = {
  i: [
    /<code>16<\/code>\s*<name>running<\/name>/g,
    "<code>0</code><name>pending</name>",
    "InvalidInstanceID.NotFound",
  ],
  vol: [/<status>available<\/status>/g, "<status>creating</status>", "InvalidVolume.NotFound"],
};
const ENDING: readonly [RegExp, string] = [
  /<code>48<\/code>\s*<name>terminated<\/name>/g,
  "<code>32</code><name>shutting-down</name>",
];
const ATTACHING: readonly [RegExp, string] = [/<status>attached<\/status>/g, "<status>attaching</status>"];
const MODIFYING: readonly [RegExp, string] = [
  /<modificationState>completed<\/modificationState>/g,
  "<modificationState>modifying</modificationState>",
];

/**
 * Stands in front of moto and refuses what EC2 refuses and moto takes (see `strict-aws-rules`), checks signatures, answers
 * repeated client tokens as EC2 does, and shows states that take time. Faults are injected by action.
 */
export class StrictAws {
  readonly #server: Server;
  readonly #moto: string;
  readonly #faults: Fault[] = [];
  readonly #tokens = new Map<
    string,
    { readonly body: string; readonly status: number; readonly text: string }
  >();
  readonly #created = new Map<string, Lag>();
  readonly #changing = new Map<string, { looks: number; readonly states: readonly [RegExp, string] }>();
  readonly #endsWithVm = new Set<string>();
  /** Actions that arrived, in order, as `ec2:RunInstances`. */
  readonly calls: string[] = [];
  /** Actions that the policy of the test allows; all when undefined. */
  allowed: ReadonlySet<string> | undefined;
  /** Looks for which a new resource is not shown, and then for which a state takes. */
  lag = { hidden: 0, states: 0 };
  /** Called when an action was executed, before its answer is sent. */
  executed: (action: string) => void = () => undefined;

  private constructor(moto: string) {
    this.#moto = moto;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  static async open(moto: string): Promise<StrictAws> {
    const made = new StrictAws(moto);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Refuses the action this many times before moto sees it. */
  refuse(action: string, code: string, times = 1, status = 400): void {
    const refused = { code, message: "injected by the test" };
    this.#faults.push({ action, does: "refuse", refused, status, left: times });
  }

  /** Executes the action and cuts the connection instead of answering. */
  loseAnswer(action: string, times = 1): void {
    this.#faults.push({
      action,
      does: "lose answer",
      refused: { code: "", message: "" },
      status: 0,
      left: times,
    });
  }

  /** Forgets faults, delays and calls. */
  calm(): void {
    this.#faults.splice(0);
    this.calls.splice(0);
    this.#created.clear();
    this.#changing.clear();
    this.lag = { hidden: 0, states: 0 };
    this.executed = () => undefined;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Asks moto itself. */
  async ask(
    action: string,
    parameters: Readonly<Record<string, string>>,
    version = "2016-11-15",
    service = "ec2",
  ): Promise<string> {
    const body = new URLSearchParams({ Action: action, Version: version, ...parameters }).toString();
    return (await this.#forward(body, DIRECT.replace("SERVICE", service))).text;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const parameters = new URLSearchParams(body);
    const action = parameters.get("Action") ?? "";
    const authorization = request.headers.authorization ?? "";
    const service = /\/([a-z\d]+)\/aws4_request/.exec(authorization)?.[1] ?? "sts";
    const called = `${service}:${action}`;
    this.calls.push(called);
    const reply = (status: number, text: string) =>
      response.writeHead(status, { "content-type": "text/xml" }).end(text);
    const refused = action.endsWith("WithWebIdentity") ? undefined : signatureTrouble(request, body);
    if (refused !== undefined) return void reply(403, errorXml(service, refused));
    const fault = this.#faults.find((one) => one.action === action && one.left > 0);
    if (fault !== undefined) fault.left -= 1;
    if (fault?.does === "refuse") return void reply(fault.status, errorXml(service, fault.refused));
    if (this.allowed !== undefined && !this.allowed.has(called)) {
      const denied = {
        code: "UnauthorizedOperation",
        message: `no identity-based policy allows the ${called} action`,
      };
      return void reply(403, errorXml(service, denied));
    }
    const done = await this.#execute(service, action, parameters, body, authorization);
    this.executed(called);
    if (fault?.does === "lose answer") return void request.socket.destroy();
    reply(done.status, done.text);
  }

  async #execute(
    service: string,
    action: string,
    parameters: URLSearchParams,
    body: string,
    authorization: string,
  ) {
    const forward = () => this.#forward(body, authorization);
    if (service !== "ec2") return await forward();
    const token = parameters.get("ClientToken");
    const before = token === null ? undefined : this.#tokens.get(`${action} ${token}`);
    if (before?.body === body) return before;
    const refused =
      before === undefined
        ? await this.#refusal(action, parameters)
        : { code: "IdempotentParameterMismatch", message: "The token was used with other parameters" };
    if (refused !== undefined) return { status: 400, text: errorXml(service, refused) };
    if (parameters.get("Attachment.DeleteOnTermination") === "true")
      this.#endsWithVm.add(parameters.get("NetworkInterfaceId") ?? "");
    const held = await this.#delayed(action, parameters);
    if (held !== undefined) return held;
    const ending = action === "TerminateInstances" ? await this.#interfacesEndingWith(parameters) : [];
    const done = await forward();
    for (const id of ending) await this.ask("DeleteNetworkInterface", { NetworkInterfaceId: id });
    const text = await this.#shown(action, parameters, done.text);
    if (token !== null && done.status < 300) this.#tokens.set(`${action} ${token}`, { ...done, body });
    return { status: done.status, text };
  }

  /**
   * Interfaces that end with the instance ("Change the termination behavior" of "Network interface attributes"): moto takes
   * the attribute and forgets it.
   */
  async #interfacesEndingWith(parameters: URLSearchParams): Promise<readonly string[]> {
    const text = await this.ask("DescribeNetworkInterfaces", {
      ...{
        "Filter.1.Name": "attachment.instance-id",
        "Filter.1.Value.1": parameters.get("InstanceId.1") ?? "",
      },
    });
    return allOf(text, "networkInterfaceId").filter((id) => this.#endsWithVm.has(id));
  }

  async #refusal(action: string, parameters: URLSearchParams): Promise<Refused | undefined> {
    const unknown = unknownParameter(action, parameters.keys());
    if (unknown !== undefined)
      return { code: "UnknownParameter", message: `The parameter ${unknown} is not recognized` };
    const input: RuleInput = {
      get: (name) => parameters.get(name) ?? undefined,
      list: (name, under) => {
        const pattern = new RegExp(`^${name}\\.\\d+${under === undefined ? "" : `\\.${under}`}$`);
        return [...parameters].filter(([key]) => pattern.test(key)).map(([, value]) => value);
      },
      ask: (asked, given) => this.ask(asked, given),
    };
    for (const rule of STRICT_RULES) {
      if (rule.actions.length > 0 && !rule.actions.includes(action)) continue;
      const refused = await rule.check(input);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }

  /** Eventual consistency: what was just made is not found yet. */
  async #delayed(action: string, parameters: URLSearchParams) {
    if (!action.startsWith("Describe")) return undefined;
    for (const [, id] of parameters) {
      const lag = this.#created.get(id);
      if (lag === undefined || lag.hidden === 0) continue;
      lag.hidden -= 1;
      const [, , code] = FIRST_STATES[id.split("-")[0] ?? ""] as readonly [RegExp, string, string];
      return { status: 400, text: errorXml("ec2", { code, message: `The ID '${id}' does not exist` }) };
    }
    return undefined;
  }

  /** The answer of moto, with states that take time. */
  async #shown(action: string, parameters: URLSearchParams, text: string): Promise<string> {
    const { hidden, states } = this.lag;
    const id = (name: string) => parameters.get(name) ?? parameters.get(`${name}.1`) ?? "";
    const made = { RunInstances: "instanceId", CreateVolume: "volumeId" }[action];
    if (made !== undefined)
      for (const one of allOf(text, made).slice(0, 1)) this.#created.set(one, { hidden, first: states });
    const changes = {
      TerminateInstances: [id("InstanceId"), ENDING],
      AttachVolume: [id("VolumeId"), ATTACHING],
      ModifyVolume: [id("VolumeId"), MODIFYING],
    } as const;
    const change = changes[action as keyof typeof changes];
    if (change !== undefined && states > 0)
      this.#changing.set(change[0], { looks: states, states: change[1] });
    if (!action.startsWith("Describe")) return text;
    for (const one of new Set([...allOf(text, "instanceId"), ...allOf(text, "volumeId")])) {
      const lag = this.#created.get(one);
      // A list by filter leaves it out.
      if (lag !== undefined && lag.hidden > 0 && /^Filter/m.test([...parameters.keys()].join("\n"))) {
        lag.hidden -= 1;
        return text.replace(/<(reservationSet|volumeSet)>[\s\S]*<\/\1>/, "<$1/>");
      }
      if (parameters.get("InstanceId.1") !== one && parameters.get("VolumeId.1") !== one) continue;
      const first = FIRST_STATES[one.split("-")[0] ?? ""];
      if (lag !== undefined && lag.first > 0 && first !== undefined) {
        lag.first -= 1;
        return text.replace(first[0], first[1]);
      }
      const changing = this.#changing.get(one);
      if (changing !== undefined && changing.looks > 0) {
        changing.looks -= 1;
        return text.replace(...changing.states);
      }
    }
    return text;
  }

  async #forward(
    body: string,
    authorization: string,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const type = "application/x-www-form-urlencoded; charset=utf-8";
    const headers = { "content-type": type, authorization };
    const reply = await fetch(this.#moto, { method: "POST", headers, body });
    return { status: reply.status, text: await reply.text() };
  }
}

/** Tells moto the region and the service. */
const DIRECT =
  "AWS4-HMAC-SHA256 Credential=moto/20260101/us-east-1/SERVICE/aws4_request, SignedHeaders=host, Signature=0";

const errorXml = (service: string, { code, message }: Refused): string =>
  service === "ec2"
    ? `<Response><Errors><Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error></Errors><RequestID>r</RequestID></Response>`
    : `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${escaped(message)}</Message></Error></ErrorResponse>`;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Checks AWS Signature Version 4 ("Create a signed AWS API request"), on its own and not by the code that signs. */
function signatureTrouble(
  { headers, url = "/", method = "" }: IncomingMessage,
  body: string,
): Refused | undefined {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
  const found = parts.exec(headers.authorization ?? "");
  if (found === null) return { code: "MissingAuthenticationToken", message: "The request is not signed" };
  const [, key, day = "", region = "", service = "", names = "", signature] = found;
  // Temporary keys are moto's own; their secrets are not known here.
  if (headers["x-amz-security-token"] !== undefined) return undefined;
  if (key !== AWS_KEY.access_key_id)
    return { code: "AuthFailure", message: "AWS was not able to validate the key" };
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  const mac = (secret: string | Buffer, text: string) => createHmac("sha256", secret).update(text).digest();
  const lines = names.split(";").map((name) => `${name}:${String(headers[name] ?? "").trim()}\n`);
  const canonical = `${method}\n${url}\n\n${lines.join("")}\n${names}\n${digest(body)}`;
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${String(headers["x-amz-date"])}\n${scope}\n${digest(canonical)}`;
  const secret = [region, service, "aws4_request"].reduce(mac, mac(`AWS4${AWS_KEY.secret_access_key}`, day));
  return mac(secret, text).toString("hex") === signature
    ? undefined
    : { code: "SignatureDoesNotMatch", message: "The signature does not match" };
}
