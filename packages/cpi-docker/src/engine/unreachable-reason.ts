import type { HttpTrouble } from "@slipway/kernel/http/client";

const UNTRUSTED = /^(UNABLE_TO_(VERIFY_LEAF|GET_ISSUER)|SELF_SIGNED|DEPTH_ZERO|CERT_(SIGNATURE|UNTRUSTED))/;
const REFUSED = /ALERT_(BAD_CERTIFICATE|CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/;
/** Matches the engine's answer to a client that does not speak TLS to it. */
export const WANTS_TLS = /HTTP request to an HTTPS server/;

/** Returns why the engine was not reached, in words of the configuration; the system's own words for the cause follow. */
export function unreachableReason({ code = "", why: said }: HttpTrouble, secure: boolean): string {
  if (code === "ENOENT") return "there is no such socket";
  if (code === "ECONNREFUSED") return "nobody listens there";
  if (code === "EACCES") return "this user may not use the socket";
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired";
  if (code === "CERT_NOT_YET_VALID") return "its certificate is not valid yet";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "its certificate is for another host";
  if (UNTRUSTED.test(code)) return "its certificate is not of the authority docker.tls.ca";
  if (REFUSED.test(code))
    return "it does not accept docker.tls.certificate, which has expired or is not of an authority it trusts";
  if (said.includes("wrong version number")) return "it does not speak TLS there";
  // The alert comes after our half of the handshake, and may be lost with the connection.
  if (secure && (code === "ECONNRESET" || code === "EPIPE"))
    return "it hung up, as it does when it does not accept docker.tls.certificate";
  if (code === "EPROTO" || /^ERR_(TLS|SSL)/.test(code)) return "TLS fails";
  return said;
}
