// Adds passkeys, live filters and automatic refresh to the developer area. Without scripts, everything works except the
// passkey forms.
(() => {
  // If the user has not chosen a time zone, selects the browser's time zone.
  function suggestZone(within) {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    for (const select of within.querySelectorAll('select[name=timeZone]')) {
      const isListed = [...select.options].some(({ value }) => value === timeZone);
      if (select.value === '' && isListed) select.value = timeZone;
    }
  }

  // Requests the passkey from the browser before the form is submitted.
  function addPasskeys(within) {
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

  // Reloads a list while the user types into its filters, and adds the filters to the URL.
  function followFilters(within) {
    for (const form of within.querySelectorAll('form[data-live]')) {
      const shown = document.getElementById(form.dataset.live);
      // With `aria-live`, screen readers announce changes to the list.
      shown.setAttribute('aria-live', 'polite');
      let last = 0;
      form.addEventListener('input', async () => {
        const requestNumber = ++last;
        await new Promise((resolve) => setTimeout(resolve, 200));
        if (requestNumber !== last) return;
        const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''));
        const address = `${location.pathname}?${query}`;
        const { page, errorMessage } = await load(address);
        if (requestNumber !== last) return;
        if (page === undefined) return shown.replaceChildren(notice(errorMessage));
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

  // Shows only the endpoints of the selected scopes.
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

  // Refreshes the elements that have `data-watched` until the page no longer has `data-reload`.
  async function watch() {
    const seconds = document.querySelector('main[data-reload]')?.dataset.reload;
    if (seconds === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const { page, isOver = false } = document.hidden ? {} : await load(location.href);
    if (isOver) return;
    const parts = [...document.querySelectorAll('main [data-watched][id]')];
    // If one of the elements has the focus, skips the refresh, because replacing the element would remove the focus.
    if (page !== undefined && !parts.some((part) => part.contains(document.activeElement))) {
      const { reload } = page.querySelector('main').dataset;
      const shown = document.querySelector('main');
      if (reload === undefined) delete shown.dataset.reload;
      for (const part of parts) replace(part, page.getElementById(part.id));
    }
    watch();
  }

  // Loads a page. On failure, returns an error message and the flag `isOver`, which is true if a retry can't succeed.
  async function load(address) {
    // Doesn't follow a redirect to the sign-in page, because loading that page could remove the passkey challenge of
    // another window.
    const options = { headers: { accept: 'text/html' }, redirect: 'manual' };
    const response = await fetch(address, options).catch(() => undefined);
    if (response === undefined) return { errorMessage: 'The server is unreachable. Try again.' };
    if (response.type === 'opaqueredirect')
      return { errorMessage: 'You are signed out. Reload the page to sign in.', isOver: true };
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (response.ok) return { page };
    const errorMessage = page.querySelector('main p')?.textContent ?? 'The request failed. Try again.';
    return { errorMessage, isOver: response.status < 500 && response.status !== 429 };
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
    addPasskeys(within);
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
