"""Excel workbooks as the tests need them: .xlsx and .xls (BIFF8) written from rows of numbers and texts."""

import io
import struct
import zipfile
from xml.sax.saxutils import escape


def xlsx(rows, start=1):
    """A workbook with one sheet; numbers with 17 digits as Excel writes them, texts shared."""
    texts, lines = {}, []
    for number, row in enumerate(rows, start):
        cells = []
        for column, value in enumerate(row):
            place = f"{letters(column)}{number}"
            if isinstance(value, str) and value:
                cells.append(f'<c r="{place}" t="s"><v>{texts.setdefault(value, len(texts))}</v></c>')
            elif value != "":
                cells.append(f'<c r="{place}" s="1"><v>{value:.17g}</v></c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", f"<workbook {space}/>")
        archive.writestr("xl/sharedStrings.xml", f"<sst {space}>{shared}</sst>")
        sheet = f"<worksheet {space}><sheetData>{''.join(lines)}</sheetData></worksheet>"
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return out.getvalue()


def letters(column):
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def record(kind, body):
    return struct.pack("<HH", kind, len(body)) + body


def packed(value):
    """A number as RK holds it, or None: a whole one, one in hundredths, or a double of 30 bits."""
    for hundredths, number in ((0, value), (1, value * 100)):
        if float(number).is_integer() and abs(number) < 2**29 and (number / 100 == value or not hundredths):
            return ((int(number) & (2**30 - 1)) << 2) | 2 | hundredths
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return None if bits & (2**34 - 1) else bits >> 32


def xls(rows, circle=False):
    """A workbook with one sheet, its cells as NUMBER, FORMULA, RK, MULRK and LABELSST records."""
    cells = b""
    for number, row in enumerate(rows):
        column = 0
        while column < len(row):
            value = row[column]
            run = 0
            while column + run < len(row) and not isinstance(row[column + run], str):
                if packed(row[column + run]) is None:
                    break
                run += 1
            if isinstance(value, str):
                cells += record(0x00FD, struct.pack("<HHHI", number, column, 0, 7))
            elif run > 1:
                body = b"".join(struct.pack("<HI", 0, packed(one)) for one in row[column : column + run])
                last = struct.pack("<H", column + run - 1)
                cells += record(0x00BD, struct.pack("<HH", number, column) + body + last)
                column += run - 1
            elif run == 1:
                cells += record(0x027E, struct.pack("<HHHI", number, column, 0, packed(value)))
            elif number % 2:
                cells += record(0x0203, struct.pack("<HHHd", number, column, 0, value))
            else:
                cells += record(0x0006, struct.pack("<HHHd", number, column, 0, value) + bytes(8))
            column += 1
    head = record(0x0809, struct.pack("<HH", 0x0600, 0x0005) + bytes(12))
    sheet = record(0x0085, struct.pack("<I", len(head) + 4 + 14 + 4) + bytes(2) + b"\x06\x00Sheet1"[:8])
    globals_ = head + sheet + record(0x0A, b"")
    assert len(globals_) == len(head) + 4 + 14 + 4
    book = (
        globals_ + record(0x0809, struct.pack("<HH", 0x0600, 0x0010) + bytes(12)) + cells + record(0x0A, b"")
    )
    book = book.ljust(max(4096, -(-len(book) // 512) * 512), b"\0")
    n = len(book) // 512
    fats = 1
    while fats * 128 < n + 1 + fats:
        fats += 1
    table = [*range(1, n), 0 if circle else 0xFFFFFFFE, 0xFFFFFFFE, *[0xFFFFFFFD] * fats]
    table += [0xFFFFFFFF] * (fats * 128 - len(table))

    def entry(name, kind, start, size):
        text = (name + "\0").encode("utf-16-le")
        return (
            text.ljust(64, b"\0")
            + struct.pack("<HBBIII", len(text), kind, 1, *[0xFFFFFFFF] * 3)
            + bytes(36)
            + struct.pack("<IQ", start, size)
        )

    directory = entry("Root Entry", 5, 0xFFFFFFFE, 0) + entry("Workbook", 2, 0, len(book)) + bytes(256)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    header += bytes(10) + struct.pack("<IIIIIIIII", fats, n, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0)[:36]
    header = header[:76]
    places = [n + 1 + i for i in range(fats)] + [0xFFFFFFFF] * (109 - fats)
    header += struct.pack("<109I", *places)
    return header + book + directory + struct.pack(f"<{fats * 128}I", *table)
