/* SPDX-License-Identifier: MIT */
/*
 * fast: the readings as a C extension of CPython, for a call through cffi costs several times the
 * reading itself. It has C's inline code for the page and the counter, and shares clocks with the
 * library that cffi opens, for it is linked with the same file. One binary serves all versions of
 * CPython from 3.9 on (the limited API). Where it cannot be built there is reader.py.
 *
 * Reader is the base of timebase.Clock. A reading holds the interpreter's lock: so a clock is not
 * given back, nor pointed elsewhere, while another thread reads it.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <timebase.h>

struct reader {
    PyObject_HEAD const timebase_clock *clock; /* NULL, at the beginning: the process' own */
};

static const timebase_clock *clock_of(PyObject *self)
{
    const timebase_clock *clock = ((struct reader *)self)->clock;
    return TIMEBASE_LIKELY(clock != NULL) ? clock : timebase_clock_default();
}

#define READING(name, help)                                                                        \
    static PyObject *reader_##name(PyObject *self, PyObject *none)                                 \
    {                                                                                              \
        (void)none;                                                                                \
        return PyLong_FromLongLong(timebase_##name(clock_of(self)));                               \
    }                                                                                              \
    PyDoc_STRVAR(reader_##name##_help, #name "($self, /)\n--\n\n" help)

READING(utc_ns,
        "Nanoseconds since 1970-01-01 00:00:00 UTC, as CLOCK_REALTIME counts them. "
        "Ordered.");
READING(utc_ns_unordered, "The same, cheaper in C, and not ordered against what other cores do.");
READING(mono_ns,
        "Nanoseconds since boot, suspend not counted: follows CLOCK_MONOTONIC, never "
        "steps.");
READING(mono_ns_unordered, "The same, cheaper in C, and not ordered against what other cores do.");
READING(tai_ns,
        "Nanoseconds since 1970-01-01 TAI; equal to UTC while the kernel knows no "
        "difference.");
READING(tai_ns_unordered, "The same, cheaper in C, and not ordered against what other cores do.");

/* Earliest, latest, status. */
#define BOUNDED(name)                                                                              \
    static PyObject *reader_##name(PyObject *self, PyObject *none)                                 \
    {                                                                                              \
        struct timebase_interval out;                                                              \
        int status = timebase_##name(clock_of(self), &out);                                        \
        (void)none;                                                                                \
        return Py_BuildValue("LLi", (long long)out.earliest_ns, (long long)out.latest_ns, status); \
    }

BOUNDED(utc_interval)
BOUNDED(realtime_interval)

/* Takes a clock's address in C, and reads that clock from now on. The caller keeps it alive. */
static PyObject *reader_point(PyObject *self, PyObject *address)
{
    void *clock = PyLong_AsVoidPtr(address);
    if (clock == NULL && PyErr_Occurred())
        return NULL;
    ((struct reader *)self)->clock = (const timebase_clock *)clock;
    Py_RETURN_NONE;
}

static PyObject *reader_address(PyObject *self, PyObject *none)
{
    (void)none;
    return PyLong_FromVoidPtr((void *)(uintptr_t)clock_of(self));
}

#define METHOD(name)                                                                               \
    {                                                                                              \
#name, reader_##name, METH_NOARGS, reader_##name##_help                                    \
    }

static PyMethodDef reader_methods[] = {
    METHOD(utc_ns),
    METHOD(utc_ns_unordered),
    METHOD(mono_ns),
    METHOD(mono_ns_unordered),
    METHOD(tai_ns),
    METHOD(tai_ns_unordered),
    {"_utc_interval", reader_utc_interval, METH_NOARGS, "Earliest, latest, status."},
    {"_realtime_interval", reader_realtime_interval, METH_NOARGS, "Earliest, latest, status."},
    {"_point", reader_point, METH_O, "Reads this clock from now on: its address in C."},
    {"_address", reader_address, METH_NOARGS, "Of the clock that is read."},
    {NULL, NULL, 0, NULL},
};

static void reader_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyType_Slot reader_slots[] = {
    {Py_tp_methods, reader_methods},
    {Py_tp_dealloc, reader_free},
    {Py_tp_doc, "What reads a clock of the C library."},
    {0, NULL},
};

static PyType_Spec reader_spec = {
    "timebase.api.reader.Reader",
    sizeof(struct reader),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    reader_slots,
};

static PyObject *fast_ticks(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromUnsignedLongLong(timebase_ticks());
}

static PyObject *fast_ticks_ordered(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    return PyLong_FromUnsignedLongLong(timebase_ticks_ordered());
}

static PyMethodDef functions[] = {
    {"ticks", fast_ticks, METH_NOARGS,
     "ticks()\n--\n\nThe counter, unordered; 64 bits, wraps. Any thread, and signal handlers."},
    {"ticks_ordered", fast_ticks_ordered, METH_NOARGS,
     "ticks_ordered()\n--\n\nThe counter, read after all earlier loads."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_fast", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__fast(void)
{
    PyObject *made = PyModule_Create(&module);
    PyObject *type = made != NULL ? PyType_FromSpec(&reader_spec) : NULL;
    if (type == NULL || PyModule_AddObject(made, "Reader", type) != 0) {
        Py_XDECREF(type);
        Py_XDECREF(made);
        return NULL;
    }
    return made;
}
