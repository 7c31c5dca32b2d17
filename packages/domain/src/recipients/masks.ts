/** Masks an e-mail address except its first character and its domain. */
export const maskEmail = (email: string): string => {
  const [first = ""] = email
  return `${first}•••${email.slice(email.lastIndexOf("@"))}`
}

/** Masks an NPI except its last four digits. */
export const maskNpi = (npi: string): string => `••••••${npi.slice(-4)}`
