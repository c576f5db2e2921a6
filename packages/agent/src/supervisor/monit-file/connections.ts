import {
  type Cursor,
  durationNext,
  keyword,
  numberNext,
  operatorNext,
  pathNext,
  shown,
  textNext,
} from "./cursor.ts";
import type { MonitConnection, ServiceKind, Warn } from "./model.ts";

const DEFAULT_TIMEOUT_SECONDS = 5;

interface Draft {
  host: string;
  port?: number;
  unixSocket?: string;
  type: MonitConnection["type"];
  protocol: MonitConnection["protocol"];
  request: string;
  hostHeader?: string;
  status?: NonNullable<MonitConnection["status"]>;
  timeoutSeconds: number;
  readonly exchange: { readonly send?: string; readonly expect?: string }[];
}

/** Parses the connection after `if failed`: address, protocol and timeout. */
export function connectionNext(cursor: Cursor, kind: ServiceKind, line: number, warn: Warn): MonitConnection {
  const begun = cursor.peek();
  const draft: Draft = {
    host: "",
    type: "tcp",
    protocol: "default",
    request: "/",
    timeoutSeconds: DEFAULT_TIMEOUT_SECONDS,
    exchange: [],
  };
  while (part(cursor, draft, line, warn));
  if (draft.port === undefined && draft.unixSocket === undefined)
    throw cursor.fail(`\`failed\` needs a port or a unix socket, not ${shown(begun)}`, begun);
  // A remote host is checked itself; anything else is on this machine.
  if (draft.host === "") draft.host = kind === "host" ? "" : "localhost";
  return draft;
}

/** One part of the test; false when something else comes. */
function part(cursor: Cursor, draft: Draft, line: number, warn: Warn): boolean {
  const token = cursor.peek();
  switch (keyword(token)) {
    case "host":
    case "hostname":
      cursor.next();
      draft.host = textNext(cursor, "the host");
      return true;
    case "port":
    case "portnumber":
      cursor.next();
      draft.port = numberNext(cursor, "the port");
      if (draft.port > 65_535) throw cursor.fail(`${shown(token)}: there is no such port`, token);
      return true;
    case "unix":
    case "unixsocket":
      cursor.next();
      draft.unixSocket = pathNext(cursor, "the unix socket");
      return true;
    case "type":
      cursor.next();
      draft.type = typeNext(cursor);
      return true;
    case "ssl":
    case "tls":
      cursor.next();
      draft.type = "tcpssl";
      if (cursor.peek().kind === "block") cursor.next();
      return true;
    case "proto":
    case "protocol":
      cursor.next();
      protocolNext(cursor, draft, line, warn);
      return true;
    case "request":
      cursor.next();
      draft.request = pathNext(cursor, "the path of the request");
      return true;
    case "hostheader":
      cursor.next();
      draft.hostHeader = textNext(cursor, "the host header");
      return true;
    case "status":
      cursor.next();
      draft.status = { operator: operatorNext(cursor), code: numberNext(cursor, "the status") };
      return true;
    case "send":
      cursor.next();
      draft.exchange.push({ send: textNext(cursor, "what is sent") });
      return true;
    case "expect":
      cursor.next();
      draft.exchange.push({ expect: textNext(cursor, "what is expected") });
      return true;
    case "timeout":
      cursor.next();
      draft.timeoutSeconds = durationNext(cursor, "the timeout");
      return true;
    case "retry":
      cursor.next();
      numberNext(cursor, "the number of tries");
      warn(line, "`retry` is not supported: use `for N cycles`");
      return true;
    default:
      return rareNext(cursor, line, warn);
  }
}

/** Options of monit that change nothing here; each is named. */
const RARE = ["certmd5", "checksum", "content", "username", "password", "method", "address"];

function rareNext(cursor: Cursor, line: number, warn: Warn): boolean {
  const token = cursor.peek();
  if (!RARE.includes(keyword(token))) return false;
  cursor.next();
  if (cursor.peek().kind === "operator") cursor.next();
  textNext(cursor, `the value of ${token.text}`);
  warn(line, `\`${token.text}\` of a connection test is not supported and has no effect`);
  return true;
}

function typeNext(cursor: Cursor): MonitConnection["type"] {
  const token = cursor.next();
  switch (keyword(token)) {
    case "tcp":
      return "tcp";
    case "udp":
      return "udp";
    case "tcpssl":
      cursor.take("sslv2", "sslv3", "tlsv1", "tlsv11", "tlsv12", "tlsv13", "sslauto", "auto");
      return "tcpssl";
    default:
      throw cursor.fail(`the type of a connection is tcp, udp or tcpssl, not ${shown(token)}`, token);
  }
}

/** Spoken by monit only: of these the connection itself is tested. */
const PROTOCOLS = new Set(
  [
    "apache-status clamav dns dwp fail2ban ftp gps imap imaps ldap2 ldap3 lmtp memcache mongodb mqtt mysql mysqls nntp",
    "ntp3 pgsql pop pops postfix-policy radius rdate redis rsync sieve sip smtp smtps spamassassin ssh tns websocket",
  ]
    .join(" ")
    .split(" "),
);

function protocolNext(cursor: Cursor, draft: Draft, line: number, warn: Warn): void {
  const token = cursor.next();
  const name = keyword(token);
  if (name === "default") return;
  if (name === "http" || name === "https") {
    draft.protocol = "http";
    if (name === "https") draft.type = "tcpssl";
    return;
  }
  if (!PROTOCOLS.has(name)) throw cursor.fail(`the protocol ${shown(token)} is not known`, token);
  if (name === "ntp3") draft.type = "udp";
  warn(line, `the protocol ${name} is not spoken: whether a connection can be made is tested`);
}
