/**
 * The mark of the authorities that a VM's agent on NATS trusts and that have signed for it, as it has confirmed. Unknown for VMs
 * from before: they are updated once more.
 */
export const natsTrust = `
alter table vms add column nats_trust text;
`;
