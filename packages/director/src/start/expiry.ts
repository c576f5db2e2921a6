import type { DirectorCertificate } from "@slipway/engine/pki/director-certificate";

const DAY_MS = 86_400_000;

/** Returns the entry of `GET /director/certificate_expiry`. */
export const expiryOf = ({ paths, until }: DirectorCertificate, now: number) => ({
  certificate_path: paths.pair,
  expiry: new Date(until).toISOString(),
  days_left: Math.floor((until - now) / DAY_MS),
});
