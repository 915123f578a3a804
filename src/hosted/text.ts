/** What is said in each language of the hosted pages (SPEC *Payment*, `language`). */
import type { Language } from '../payments/payment.ts'
import { cy } from './text.cy.ts'
import { en, type Messages } from './text.en.ts'

export const messages: Record<Language, Messages> = { en, cy }
