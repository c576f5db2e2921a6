import { messageTrail, SlipwayError, systemCode } from "@slipway/kernel/errors";
import { HttpTrouble } from "@slipway/kernel/http/client";
import { proxyTrouble } from "../proxy/errors.ts";
import { CertificateRefused, NotReachable } from "./errors.ts";

/** Node's codes of certificates that do not hold, in words. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "it is signed by itself",
  SELF_SIGNED_CERT_IN_CHAIN: "its authority is not among the known ones",
  UNABLE_TO_GET_ISSUER_CERT: "its authority is not among the known ones",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its authority is not among the known ones",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its authority is not among the known ones",
  CERT_SIGNATURE_FAILURE: "its signature is not the authority's",
  CERT_HAS_EXPIRED: "it has expired",
  CERT_NOT_YET_VALID: "it is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "it is made for other names than this one",
};

const TROUBLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  EPIPE: "the connection was cut",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name could not be looked up",
  EHOSTUNREACH: "there is no way to the host",
  ENETUNREACH: "there is no way to its network",
  ETIMEDOUT: "the connection timed out",
  EPROTO: "what listens there does not speak TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "what listens there does not speak TLS",
};

export const wasCertificate = (error: unknown): boolean => (systemCode(error) ?? "") in CERTIFICATE;

/** Trouble of the connection, for the operator. */
export function transportError(url: string, error: unknown): SlipwayError {
  if (error instanceof SlipwayError) return error;
  const proxy = proxyTrouble(error);
  if (proxy !== undefined) return proxy;
  const code = systemCode(error) ?? "";
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined)
    return CertificateRefused({ url, why: certificate }, { cause: causeOf(error) });
  const known = TROUBLE[code];
  if (known !== undefined) return NotReachable({ url, why: known }, { cause: causeOf(error) });
  return NotReachable({ url, why: error instanceof HttpTrouble ? error.why : messageTrail(error) });
}

/** Returns the system's error without the HTTP request around it, which the operator did not make. */
const causeOf = (error: unknown): unknown => (error instanceof HttpTrouble ? error.cause : error);
