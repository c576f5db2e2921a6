/**
 * Decides about reads without credentials. The old registries asked the IaaS which addresses an instance has; whoever
 * wants that implements this.
 */
export interface AddressCheck {
  /** `address`: the socket's peer, IPv4 in its short form. Never taken from a header, which anybody can write. */
  mayRead(address: string, id: string): boolean | Promise<boolean>;
}

export const loopbackOnly: AddressCheck = {
  mayRead: (address) => address === "127.0.0.1" || address === "::1",
};

/** A dual-stack socket shows IPv4 peers as ::ffff:a.b.c.d. */
export const shortAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$)/i, "");
