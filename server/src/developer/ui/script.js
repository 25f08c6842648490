// What the area has beside the frame where scripts run: passkeys, lists that follow what is typed, pages that refresh.
(() => {
  // Until the visitor has chosen a time zone, that of the browser is preselected.
  function suggestZone(within) {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    for (const select of within.querySelectorAll('select[name=timeZone]')) {
      const isListed = [...select.options].some(({ value }) => value === timeZone);
      if (select.value === '' && isListed) select.value = timeZone;
    }
  }

  // A form with a passkey is sent once the browser has made it, or has signed with it.
  function askForPasskeys(within) {
    for (const input of within.querySelectorAll('input[data-passkey]')) {
      const { form } = input;
      form.addEventListener('submit', async (event) => {
        if (input.value !== '') return;
        event.preventDefault();
        try {
          const credential = await credentialFor(input.dataset.passkey, JSON.parse(input.dataset.options));
          input.value = JSON.stringify(credential.toJSON());
          form.requestSubmit();
        } catch (error) {
          const isCancelled = error.name === 'NotAllowedError';
          showError(
            form,
            isCancelled ? 'No passkey was provided. Try again.' : `The passkey request failed: ${error.message}`,
          );
        }
      });
    }
  }

  function credentialFor(what, options) {
    if (!window.PublicKeyCredential) throw new Error('This browser does not support passkeys.');
    return what === 'create'
      ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  }

  function showError(form, message) {
    const paragraph = form.querySelector('.form-error') ?? document.createElement('p');
    paragraph.className = 'error form-error';
    paragraph.setAttribute('role', 'alert');
    paragraph.textContent = message;
    form.append(paragraph);
  }

  // A list follows what is typed into its filters, and the address follows, too.
  function followFilters(within) {
    for (const form of within.querySelectorAll('form[data-live]')) {
      const shown = document.getElementById(form.dataset.live);
      // Who can't see that the list has changed is told.
      shown.setAttribute('aria-live', 'polite');
      let last = 0;
      form.addEventListener('input', async () => {
        const turn = ++last;
        await new Promise((resolve) => setTimeout(resolve, 200));
        if (turn !== last) return;
        const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''));
        const address = `${location.pathname}?${query}`;
        const { page, trouble } = await load(address);
        if (turn !== last) return;
        if (page === undefined) return shown.replaceChildren(notice(trouble));
        history.replaceState(null, '', address);
        shown.replaceChildren(...page.getElementById(shown.id).childNodes);
        enhance(shown);
      });
    }
  }

  function notice(message) {
    const paragraph = document.createElement('p');
    paragraph.className = 'notice bad';
    paragraph.textContent = message;
    return paragraph;
  }

  // What a choice of scopes allows is shown while it is made.
  function followScopes(within) {
    for (const shown of within.querySelectorAll('[data-allowed]')) {
      const fields = document.getElementById(shown.dataset.allowed);
      if (fields === null) continue;
      const show = () => {
        const chosen = new Set([...fields.querySelectorAll('input:checked')].map(({ value }) => value));
        for (const group of shown.querySelectorAll('[data-scope]')) group.hidden = !chosen.has(group.dataset.scope);
        const count = shown.querySelectorAll('[data-scope]:not([hidden]) li').length;
        const endpoints = count === 0 ? 'only' : count === 1 ? '1 endpoint and' : `${count} endpoints and`;
        shown.querySelector('[role=status]').textContent =
          `With these scopes, the API key can call ${endpoints} GET /me.`;
      };
      fields.addEventListener('change', show);
      show();
    }
  }

  // What goes on is looked at again, until it doesn't.
  async function watch() {
    const seconds = document.querySelector('main[data-reload]')?.dataset.reload;
    if (seconds === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const { page, isOver = false } = document.hidden ? {} : await load(location.href);
    if (isOver) return;
    const parts = [...document.querySelectorAll('main [data-watched][id]')];
    // To replace what has the focus would lose it.
    if (page !== undefined && !parts.some((part) => part.contains(document.activeElement))) {
      const { reload } = page.querySelector('main').dataset;
      const shown = document.querySelector('main');
      if (reload === undefined) delete shown.dataset.reload;
      for (const part of parts) replace(part, page.getElementById(part.id));
    }
    watch();
  }

  // A page of the area; or why there is none, and whether there will be none later either.
  async function load(address) {
    // To be led to signing in is not followed: that page would have a challenge of another window forgotten.
    const options = { headers: { accept: 'text/html' }, redirect: 'manual' };
    const answer = await fetch(address, options).catch(() => undefined);
    if (answer === undefined) return { trouble: 'The server is unreachable. Try again.' };
    if (answer.type === 'opaqueredirect')
      return { trouble: 'You are signed out. Reload the page to sign in.', isOver: true };
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (answer.ok) return { page };
    const trouble = page.querySelector('main p')?.textContent ?? 'The request failed. Try again.';
    return { trouble, isOver: answer.status < 500 && answer.status !== 429 };
  }

  function replace(before, after) {
    if (after === null) return before.remove();
    before.replaceWith(after);
    enhance(after);
  }

  function enhance(within) {
    suggestZone(within);
    for (const element of within.querySelectorAll('[data-only-script]')) element.hidden = false;
    frame.addCopyButtons(within);
    askForPasskeys(within);
    followFilters(within);
    followScopes(within);
  }

  document.addEventListener('DOMContentLoaded', () => {
    frame.addThemeButton();
    enhance(document);
    document.querySelector('[data-focus]')?.focus();
    watch();
  });
})();
