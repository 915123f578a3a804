/** The texts of the hosted pages in Welsh. English words in them are marked, so that screen readers say them in English. */
import { html } from '../../platform/web/html.ts'
import { type Messages, page } from './text.en.ts'

export const cy: Messages = {
  language: 'cy',
  errorTitle: title => `Gwall: ${title}`,
  shell: {
    serviceName: 'Taliadau Farthing',
    skipLink: 'Neidio i’r prif gynnwys',
    banner: {
      tag: 'Demo',
      text: 'Arddangosiad yw hwn. Ni chodir tâl ar unrhyw gerdyn ac nid oes unrhyw arian yn symud.',
    },
    footer: 'Ar gyfer arddangos a phrofi yn unig y mae Farthing. Nid gwefan y llywodraeth yw hon.',
  },
  continueButton: 'Parhau',
  continueHint: 'Dewiswch Parhau i fynd yn ôl i’r gwasanaeth.',
  cancelButton: 'Canslo’r taliad',

  summary: {
    heading: 'Crynodeb o’r taliad',
    description: 'Disgrifiad',
    reference: 'Cyfeirnod',
    total: 'Cyfanswm',
    agreement: 'Cytundeb',
    cardKept:
      'Bydd manylion eich cerdyn yn cael eu cadw ar gyfer taliadau yn y dyfodol o dan y cytundeb hwn.',
  },

  person: {
    heading: 'Eich manylion',
    name: 'Enw ar y cerdyn',
    address: 'Cyfeiriad bilio',
    email: 'Cyfeiriad e-bost',
  },

  details: {
    heading: 'Rhowch fanylion y taliad',
    legend: 'Sut y dylai’r taliad hwn ddod i ben?',
    hint: 'Byddai gwasanaeth go iawn yn gofyn am fanylion cerdyn yma.',
    success: 'Mae’r taliad yn llwyddo',
    successHint: html`Byddwch yn ei gadarnhau ar y dudalen nesaf. Statws terfynol: <span lang="en">success</span>.`,
    capturableHint: html`Byddwch yn ei gadarnhau ar y dudalen nesaf. Statws: <span lang="en">capturable</span>, nes i’r gwasanaeth gymryd y taliad.`,
    declined: 'Mae’r cerdyn yn cael ei wrthod',
    declinedHint: html`Statws terfynol: <span lang="en">failed</span>. Cod:\u00a0P0010.`,
    error: 'Mae gwall yn codi gyda’r darparwr taliadau',
    errorHint: html`Statws terfynol: <span lang="en">error</span>. Cod:\u00a0P0050.`,
    or: 'neu',
    cancel: 'Mae’r defnyddiwr yn canslo’r taliad',
    cancelHint: html`Statws terfynol: <span lang="en">failed</span>. Cod:\u00a0P0030.`,
    errorSummaryTitle: 'Mae problem wedi codi',
    errorPrefix: 'Gwall',
    nothingChosen: 'Dewiswch sut y dylai’r taliad hwn ddod i ben',
  },

  confirm: {
    heading: 'Cadarnhewch eich taliad',
    cardHeading: 'Manylion y cerdyn',
    cardType: 'Math o gerdyn',
    creditCard: brand => `Cerdyn credyd ${brand}`,
    debitCard: brand => `Cerdyn debyd ${brand}`,
    cardNumber: 'Rhif y cerdyn',
    endingIn: lastDigits => `Yn gorffen gyda ${lastDigits}`,
    expiryDate: 'Dyddiad dod i ben',
    confirmButton: 'Cadarnhau’r taliad',
  },

  cancel: page('Mae eich taliad wedi’i ganslo', 'Nid oes unrhyw arian wedi’i gymryd o’ch cyfrif.'),
  declined: page(
    'Mae eich taliad wedi’i wrthod',
    'Nid oes unrhyw arian wedi’i gymryd o’ch cyfrif.',
    'Pe bai hwn yn daliad go iawn, gallech roi cynnig ar gerdyn arall neu ofyn i’ch banc pam y cafodd ei wrthod.',
  ),
  error: page(
    'Mae’n ddrwg gennym, rydym yn cael problemau technegol',
    'Nid yw eich taliad wedi mynd drwodd. Nid oes unrhyw arian wedi’i gymryd o’ch cyfrif.',
    'Nid ydych wedi gwneud dim o’i le.',
  ),
  paid: page('Roedd eich taliad yn llwyddiannus', 'Nid oes angen i chi dalu eto.'),
  expired: page(
    'Mae eich taliad wedi dod i ben',
    'Ni chafodd ei gwblhau mewn pryd. Nid oes unrhyw arian wedi’i gymryd o’ch cyfrif.',
    'I dalu, dechreuwch eto yn y gwasanaeth.',
  ),
  cancelledByService: page(
    'Mae’r gwasanaeth wedi canslo’r taliad hwn',
    'Nid oes unrhyw arian wedi’i gymryd o’ch cyfrif.',
  ),

  notFound: page(
    'Heb ddod o hyd i’r dudalen',
    'Os gwnaethoch deipio neu ludo’r cyfeiriad gwe, gwiriwch ei fod yn gyflawn ac yn gywir.',
    'Mae dolenni talu’n peidio â gweithio 7 diwrnod ar ôl iddynt gael eu creu. I dalu, ewch yn ôl i’r gwasanaeth a’ch anfonodd yma a dechreuwch eto.',
    'Os ydych chi’n datblygu’r gwasanaeth hwn: dim ond next_url taliad sy’n arwain at ei dudalen, ac yn y gwasanaeth byw mae angen hefyd y cwci a roddwyd i borwr y talwr yno.',
  ),
  badRequest: page(
    'Mae’n ddrwg gennym, nid ydym yn deall y cais hwn',
    'Nid oes dim wedi newid. Ewch yn ôl i’r gwasanaeth y daethoch ohono a rhowch gynnig arall arni.',
  ),
  otherSite: page(
    'Mae’n ddrwg gennym, ni allwn dderbyn y cais hwn',
    'Daeth o wefan arall. Nid oes dim wedi newid.',
    'Ewch yn ôl i’r gwasanaeth y daethoch ohono ac agorwch y dudalen dalu eto.',
  ),
  wrongMethod: page(
    'Mae’n ddrwg gennym, ni allwch wneud hynny ar y dudalen hon',
    'Dim ond darllen y dudalen hon ac anfon y ffurflen sydd arni y gallwch ei wneud. Nid oes dim wedi newid.',
    'Ewch yn ôl i’r gwasanaeth y daethoch ohono ac agorwch y dudalen dalu eto.',
  ),
  tooLarge: page(
    'Mae’r ffurflen yn rhy fawr',
    'Cawsom fwy o wybodaeth nag y mae’r dudalen hon yn ei derbyn. Nid oes dim wedi newid.',
    'Ewch yn ôl i’r gwasanaeth y daethoch ohono ac agorwch y dudalen dalu eto.',
  ),
  wrongForm: page(
    'Nid ydym yn adnabod y ffurflen hon',
    'Nid yw’n edrych fel ffurflen o’n tudalennau talu. Nid oes dim wedi newid.',
    'Ewch yn ôl i’r gwasanaeth y daethoch ohono ac agorwch y dudalen dalu eto.',
  ),
  fault: page(
    'Mae’n ddrwg gennym, mae problem gyda’r gwasanaeth',
    'Rhowch gynnig arall arni ymhen ychydig funudau.',
    'Gall y gwasanaeth a’ch anfonodd yma ddweud wrthych a gafodd y taliad ei wneud.',
  ),
}
