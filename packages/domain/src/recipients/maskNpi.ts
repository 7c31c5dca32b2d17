/** Masks all of an NPI but its last four digits. */
export const maskNpi = (npi: string): string => `••••••${npi.slice(-4)}`
