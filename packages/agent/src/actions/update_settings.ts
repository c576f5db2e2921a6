import type { Action } from "./action.ts";
import { linkDisks } from "./associate_disks.ts";

/** Certificates and associations replace what there was, also by being left out. A new bus restarts the agent. */
export const updateSettings: Action<"update_settings"> = async ({ settings }, { services, signal }) => {
  await services.settings.reload(signal);
  await linkDisks(settings.disk_associations ?? [], services, signal);
  await services.platform.system.setTrustedCertificates(certificatesIn(settings.trusted_certs ?? ""));
  const { restart } = await services.settings.saveUpdates(settings);
  if (restart) services.restart("the bus or the blobstores changed");
  return "ok";
};

/** What stands between the certificates is for people and dropped. */
export const certificatesIn = (text: string): string[] =>
  text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
