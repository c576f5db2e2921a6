/** How far a question came. */
export type Phase = "connecting" | "handshake" | "sent";

/** Why no answer came: what is known, and what an operator can do about it. */
export interface TransportFailure {
  /**
   * `unreached`: the agent has not got the question. `stale`: nor over a connection that was kept too long. `lost`: it
   * may have got it. `nonsense`: it answered, but what.
   */
  readonly kind: "unreached" | "stale" | "lost" | "nonsense";
  readonly phase: Phase;
  readonly what: string;
  readonly next: string;
  /**
   * Set if the agent is alive and closed the connection. An agent that does not accept the Director's certificate does so with a
   * TLS 1.2 alert, or with TLS 1.3 by hanging up after it has proven its identity.
   */
  readonly hungUp?: true;
}

const LOOK_AT_VM =
  "look at the VM's console and at the agent's log in it (/var/vcap/bosh/log/current), then deploy again or recreate the VM";
const LOOK_AT_NETWORK =
  "see that the VM runs, that its network leads to the Director and that no firewall stands between them";

const LOOK_WHO_LISTENS = `see that an agent listens there and nothing else, or ${LOOK_AT_VM}`;

const CONNECT: Readonly<Record<string, readonly [what: string, next: string]>> = {
  ECONNREFUSED: [
    "the connection is refused: the VM is there, but no agent listens",
    `wait for the agent to start, or ${LOOK_AT_VM}`,
  ],
  EHOSTUNREACH: ["there is no route to it", LOOK_AT_NETWORK],
  ENETUNREACH: ["there is no route to its network", LOOK_AT_NETWORK],
  EHOSTDOWN: ["its host is down", LOOK_AT_NETWORK],
  ETIMEDOUT: ["nobody takes the connection", LOOK_AT_NETWORK],
  ENOTFOUND: ["its name is not known", "see that the name of the VM can be resolved where the Director runs"],
  EAI_AGAIN: ["its name cannot be resolved now", "see that the Director's name servers answer"],
};

/** Details of a failed connection. */
export interface Broken {
  /** The system's, such as ECONNREFUSED. */
  readonly code: string | undefined;
  /** In the words of who found it. */
  readonly why: string;
  readonly phase: Phase;
  /** True if the connection had carried a message before. */
  readonly reused: boolean;
}

/** From an error of the connection. */
export function failureOfConnection({ code = "", why, phase, reused }: Broken): TransportFailure {
  const unreached = (what: string, next: string): TransportFailure => ({
    kind: "unreached",
    phase,
    what,
    next,
  });
  const known = CONNECT[code];
  if (phase === "connecting" && known !== undefined) return unreached(`${known[0]} (${code})`, known[1]);
  const said = why.replace(/\s+/g, " ").slice(0, 200) || code;
  if (/^ERR_SSL_|^EPROTO$|^ERR_TLS_/.test(code))
    return { ...unreached(...tlsFailure(said)), ...refusal(said) };
  if (phase === "connecting") return unreached(`no connection: ${said}`, LOOK_AT_NETWORK);
  if (phase === "handshake") return unreached(`the TLS handshake broke off: ${said}`, LOOK_WHO_LISTENS);
  // An agent closes connections that were idle; what it closes in this moment has not been read.
  const stale = reused && (code === "ECONNRESET" || code === "EPIPE");
  const what = `the connection broke off before an answer: ${said}`;
  return stale
    ? { kind: "stale", phase, what, next: LOOK_AT_VM }
    : { kind: "lost", phase, what, next: LOOK_AT_VM, hungUp: true };
}

const isAlert = (said: string) => /alert/i.test(said);
const refusal = (said: string): Pick<TransportFailure, "hungUp"> => (isAlert(said) ? { hungUp: true } : {});

function tlsFailure(said: string): [what: string, next: string] {
  if (!isAlert(said)) return [`TLS failed (${said})`, LOOK_WHO_LISTENS];
  return [
    `the agent refuses this Director's TLS certificate (${said})`,
    "see that the VM's clock is right and that it was created by this Director; otherwise recreate it",
  ];
}

/** From a time that ran out. */
export function failureOfTimeout(phase: Phase): TransportFailure {
  switch (phase) {
    case "connecting":
      return { kind: "unreached", phase, what: "nobody takes the connection", next: LOOK_AT_NETWORK };
    case "handshake":
      return {
        kind: "unreached",
        phase,
        what: "it takes connections, but does not finish the TLS handshake",
        next: `the VM is overloaded or hangs: ${LOOK_AT_VM}`,
      };
    case "sent":
      return {
        kind: "lost",
        phase,
        what: "it has the question, but does not answer",
        next: `the agent is busy or hangs: ${LOOK_AT_VM}`,
      };
  }
}

export const startingFailure: TransportFailure = {
  kind: "lost",
  phase: "sent",
  what: "it is starting and cannot answer this yet",
  next: LOOK_AT_VM,
};

/** The agent answers, but asking again would not help. */
export const failureOfReply = (method: string, what: string): TransportFailure => ({
  kind: "nonsense",
  phase: "sent",
  what: `it answers ${method} with ${what}`,
  next: "see what listens at this address, and which version the VM's agent has; recreate the VM if it stays so",
});

const EXPIRED = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]);
const UNTRUSTED =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_|INVALID_|ERROR_IN_CERT|HOSTNAME_MISMATCH)/;

/** Describes the problem with the certificate that was presented; undefined if the code is not about a certificate. */
export function certificateProblem(code: string): string | undefined {
  if (EXPIRED.has(code)) return `its certificate is not valid now (${code})`;
  return UNTRUSTED.test(code) ? `its certificate is not of this Director's authority (${code})` : undefined;
}
