import type { DirectorCertificate } from "@slipway/engine/pki/director-certificate";

const DAY_MS = 86_400_000;

/** As `GET /director/certificate_expiry` tells of it. */
export const expiryOf = ({ paths, until }: DirectorCertificate, now: number) => ({
  certificate_path: paths.pair,
  expiry: new Date(until).toISOString(),
  days_left: Math.floor((until - now) / DAY_MS),
});
