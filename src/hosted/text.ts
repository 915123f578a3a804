/** The languages of the hosted pages (SPEC *Payment*, `language`) and what is said in each. */
import { cy } from './text.cy.ts'
import { en, type Messages } from './text.en.ts'

export type Language = 'en' | 'cy'

export const messages: Record<Language, Messages> = { en, cy }
