/** Masks an NPI except its last four digits. */
export const maskNpi = (npi: string): string => `••••••${npi.slice(-4)}`
