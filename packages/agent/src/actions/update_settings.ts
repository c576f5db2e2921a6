import { checkPair } from "../transports/credentials.ts";
import type { Action } from "./action.ts";
import { linkDisks, unlinkDisks } from "./associate_disks.ts";

/**
 * Certificates and associations replace what there was, also by being left out. Upstream's agent restarts for new
 * credentials of the bus and for another blobstore; this one takes them up while it runs, since a message that is sent
 * while an agent is away costs its Director 45 seconds. It restarts for another bus only.
 */
export const updateSettings: Action<"update_settings"> = async ({ settings }, { services, signal }) => {
  await services.settings.reload(signal);
  // Associations may name these disks, and mount_disk comes next.
  if (settings.disks != null) await services.settings.saveDisks(settings.disks);
  const linked = settings.disk_associations ?? [];
  await linkDisks(linked, services, signal);
  await unlinkDisks(services.settings.updates().disk_associations ?? [], linked, services);
  await services.platform.system.setTrustedCertificates(certificatesIn(settings.trusted_certs ?? ""));
  // An agent that has stored a pair it cannot use could not be reached after its next start.
  const cert = settings.mbus?.cert;
  if (cert?.ca)
    checkPair({ ca: cert.ca, certificate: cert.certificate ?? "", privateKey: cert.private_key ?? "" });
  const { restart } = await services.settings.saveUpdates(settings);
  if (restart && !(await services.reconnect())) services.restart("the bus changed");
  return "ok";
};

/** Returns the certificates in a text and drops the comments between them. */
export const certificatesIn = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
