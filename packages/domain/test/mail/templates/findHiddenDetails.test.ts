import { describe, expect, it } from "vitest"
import { findHiddenDetails } from "../../../src/mail/templates/findHiddenDetails.ts"

const details = {
  senderName: "Acme & Söhne",
  postalAddress: "1 Main Street, Springfield, IL 62701",
  unsubscribeUrl: "https://outreach.test/unsubscribe/x",
}
const hidden = (html: string) => findHiddenDetails(html, details)
const NAME = "Acme &amp; Söhne"
const ADDRESS = "1 Main Street, Springfield, IL 62701"
const LINK = `<a href="${details.unsubscribeUrl}">No more</a>`

describe("findHiddenDetails", () => {
  it.each([
    ["in a paragraph", `<p>${NAME}, ${ADDRESS}. ${LINK}</p>`],
    [
      "in other letters, over several lines and cells",
      `<table><tr><td>ACME & <b>SÖ</b>HNE</td><td>1 Main Street<br>Springfield,\n IL&nbsp;62701</td></tr></table>${LINK}`,
    ],
    ["with the link as text", `${NAME}, ${ADDRESS}, ${details.unsubscribeUrl}`],
    [
      "beside an opacity that shows them",
      `<p style="opacity: 0.8; max-height: 0.5em">${NAME}, ${ADDRESS}, ${LINK}</p>`,
    ],
  ])("finds what is shown %s", (_, html) => {
    expect(hidden(html)).toEqual([])
  })

  it("names each detail that is missing", () => {
    expect(hidden("<p>Good morning</p>")).toEqual(["senderName", "postalAddress", "unsubscribeUrl"])
    expect(hidden(`${NAME} ${LINK}`)).toEqual(["postalAddress"])
    expect(hidden(`${NAME} ${ADDRESS} <a href="https://outreach.test/">No more</a>`)).toEqual(["unsubscribeUrl"])
  })

  it("takes no part of a word for a name", () => {
    expect(findHiddenDetails("<p>Acmedical</p>", { ...details, senderName: "Acme" })).toContain("senderName")
  })

  it.each([
    ["a comment", (html: string) => `<!-- ${html} -->`],
    ["the head", (html: string) => `<head><title>${html}</title></head>`],
    ["a style or a script", (html: string) => `<style>${html}</style><script>${html}</script>`],
    ["a template", (html: string) => `<template>${html}</template>`],
    ["an attribute", () => `<img src="x.png" alt="${NAME} ${ADDRESS} ${details.unsubscribeUrl}">`],
    ["an element with `hidden`", (html: string) => `<div hidden><p>${html}</p></div>`],
    ["what is not displayed", (html: string) => `<div style="color:red; DISPLAY : none"><p>${html}</p></div>`],
    [
      "an element for inboxes alone",
      (html: string) => `<div style="max-height:0;overflow:hidden;mso-hide:all">${html}</div>`,
    ],
    [
      "what cannot be seen",
      (html: string) => `<p style="opacity:0">${html}</p><p style="visibility:hidden">${html}</p>`,
    ],
  ])("does not count %s", (_, within) => {
    expect(hidden(within(`${NAME} ${ADDRESS} ${LINK}`))).toEqual(["senderName", "postalAddress", "unsubscribeUrl"])
  })
})
