import { REDACTED } from "@slipway/protocol/schema/redact";

/** Bounded repeats: the text may be of any length and anybody's. */
const USER_INFO = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]*@/gi;
const SIGNED = /([?&][\w-]{0,40}(?:signature|token|password|secret|credential|sig|key)=)[^&\s"'#<>]+/gi;

/** Takes credentials out of the URLs in a text. Other secrets are kept out by whoever writes it. */
export function scrubUrls(text: string): string {
  if (!text.includes("://")) return text;
  return text.replace(USER_INFO, `$1${REDACTED}@`).replace(SIGNED, `$1${REDACTED}`);
}
