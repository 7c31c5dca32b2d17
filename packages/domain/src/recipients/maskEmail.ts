/** Masks an e-mail address except its first character and its domain. */
export const maskEmail = (email: string): string => {
  const [first = ""] = email
  return `${first}•••${email.slice(email.lastIndexOf("@"))}`
}
