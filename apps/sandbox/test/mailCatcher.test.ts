import { createTransport } from "nodemailer"
import { expect, it, onTestFinished } from "vitest"
import { catchOne } from "./catchOne.ts"

it("is JSON to whoever asks for no page", async () => {
  const { url } = await catchOne("<p>Good morning</p>")
  expect(await (await fetch(url)).json()).toMatchObject({ count: 1, messages: [{ to: ["dana@clinic.test"] }] })
  expect((await fetch(`${url}message/7`)).status).toBe(404)
})

it("refuses an unknown mailbox for good, and names it", async () => {
  const { smtpUrl, url } = await catchOne("<p>Good morning</p>")
  const transport = createTransport({ url: smtpUrl })
  onTestFinished(() => transport.close())
  const sent = transport.sendMail({ from: "acme@sandbox.test", to: "nobody@clinic.test", text: "Good morning" })
  await expect(sent).rejects.toMatchObject({ responseCode: 550, response: expect.stringContaining("5.1.1") })
  expect(await (await fetch(url)).json()).toMatchObject({ count: 1 })
})
