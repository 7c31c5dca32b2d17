import { createTransport } from "nodemailer"
import { fieldsOf, htmlFor, MAX_IN_FLIGHT, subjectFor, textFor } from "./message.ts"

// nodemailer's pool, which sends pre-rendered messages like a script without a database. Escaping and links cost it no time.

const transport = createTransport({ url: process.env["SMTP_URL"]!, pool: true, maxConnections: MAX_IN_FLIGHT })
let next = 0
const total = Number(process.env["MESSAGES"])
const sendSome = async () => {
  while (next < total) {
    const n = next++
    const token = n.toString(36).padStart(6, "0")
    const { first_name = "", last_name = "", specialty = "medicine" } = fieldsOf(n)
    const unsubscribe_url = `https://outreach.test/unsubscribe/${token}`
    const sender = { sender_name: "Acme", postal_address: "1 Main Street, Springfield, IL 62701" }
    const person = { token, ...sender, unsubscribe_url, first_name, last_name, specialty }
    await transport.sendMail({
      from: { name: "Acme", address: "outreach@acme.test" },
      to: `clinician${n}@clinic.test`,
      subject: subjectFor(person),
      html: htmlFor(person),
      text: textFor(person),
      messageId: `<${n}@acme.test>`,
      headers: {
        "List-Unsubscribe": `<${unsubscribe_url}>`,
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      },
    })
  }
}
await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, sendSome))
transport.close()
